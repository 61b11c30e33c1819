/* nsight_db.c: see nsight_db.h.
 *
 * Source of the precautions: SQLite's own advice for files of strangers (sqlite.org/security.html).
 * Its memory does not come through xalloc(): it looks at every allocation itself, and holds a few
 * megabytes here, whatever the file's size, since rows come one by one and nothing is sorted in it. */
#include "nsight_db.h"

#include <sqlite3.h>
#include <string.h>

#include "error.h"
#include "importer.h"
#include "text.h"
#include "xalloc.h"

enum { STEPS_BETWEEN = 10000, MOST_COLUMNS = 200, MOST_VALUE_BYTES = 64 << 20 };
/* Steps of SQLite's machine: real tables take some 30 a row of 50 bytes. */
enum { STEPS_A_BYTE = 100 };

struct nsight_db {
    sqlite3 *handle;
    const struct trace_options *options;
    size_t length;
    uint64_t steps, most_steps;
    bool interrupted;
};

struct nsight_row {
    sqlite3_stmt *statement;
};

static bool fail(struct nsight_db *db, struct error *err) {
    if (db->interrupted)
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    int code = db->handle ? sqlite3_errcode(db->handle) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return error_host_memory(err);
    if (code == SQLITE_INTERRUPT)
        return error_set(err, ERROR_LIMIT, "the database takes too much work for its size");
    if (code == SQLITE_CANTOPEN)
        return error_set(err, ERROR_BAD_INPUT,
                         "an SQLite database in WAL mode, which one file alone does not hold; "
                         "sqlite3 FILE 'pragma journal_mode=delete' makes it whole");
    return error_set(err, ERROR_BAD_INPUT, "SQLite: %s", sqlite3_errmsg(db->handle));
}

/* Anything but 0 ends the statement. */
static int on_steps(void *user) {
    struct nsight_db *db = user;
    db->steps += STEPS_BETWEEN;
    uint64_t done = db->steps / STEPS_A_BYTE < db->length ? db->steps / STEPS_A_BYTE : db->length;
    if (db->options->progress && !db->options->progress(db->options->user, done, db->length))
        db->interrupted = true;
    return db->interrupted || db->steps > db->most_steps;
}

/* Nothing but reading. */
static int authorize(void *user, int action, const char *a, const char *b, const char *c,
                     const char *d) {
    (void)user;
    (void)b;
    (void)c;
    (void)d;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    if (action == SQLITE_PRAGMA && a && strcmp(a, "table_info") == 0)
        return SQLITE_OK;
    return SQLITE_DENY;
}

static bool set_up(struct nsight_db *db) {
    sqlite3 *h = db->handle;
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_FKEY,
                              SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (sqlite3_db_config(h, off[i], 0, NULL) != SQLITE_OK)
            return false;
    if (sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK)
        return false;
    sqlite3_limit(h, SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES);
    sqlite3_limit(h, SQLITE_LIMIT_SQL_LENGTH, 100000);
    sqlite3_limit(h, SQLITE_LIMIT_COLUMN, MOST_COLUMNS);
    sqlite3_limit(h, SQLITE_LIMIT_EXPR_DEPTH, 50);
    sqlite3_limit(h, SQLITE_LIMIT_COMPOUND_SELECT, 3);
    sqlite3_limit(h, SQLITE_LIMIT_VDBE_OP, 25000);
    sqlite3_limit(h, SQLITE_LIMIT_FUNCTION_ARG, 8);
    sqlite3_limit(h, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50);
    sqlite3_limit(h, SQLITE_LIMIT_VARIABLE_NUMBER, 10);
    sqlite3_limit(h, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_limit(h, SQLITE_LIMIT_WORKER_THREADS, 0);
    (void)sqlite3_exec(h, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    return true;
}

/* sqlite3_deserialize() itself is an ATTACH. */
static bool close_doors(struct nsight_db *db) {
    sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN, on_steps, db);
    return sqlite3_set_authorizer(db->handle, authorize, NULL) == SQLITE_OK;
}

struct nsight_db *nsight_db_open(const uint8_t *data, size_t length,
                                 const struct trace_options *options, struct error *err) {
    struct nsight_db *db = xcalloc(1, sizeof *db);
    if (!db) {
        error_host_memory(err);
        return NULL;
    }
    *db = (struct nsight_db){.options = options,
                             .length = length,
                             .most_steps = (uint64_t)length * STEPS_A_BYTE + 100000000};
    unsigned char *bytes;
    memcpy(&bytes, &data, sizeof bytes); /* READONLY: they are not written to */
    bool ok =
        sqlite3_open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        set_up(db) &&
        sqlite3_deserialize(db->handle, "main", bytes, (sqlite3_int64)length, (sqlite3_int64)length,
                            SQLITE_DESERIALIZE_READONLY) == SQLITE_OK &&
        close_doors(db);
    sqlite3_stmt *first = NULL; /* is it a database at all? */
    ok = ok && sqlite3_prepare_v2(db->handle, "SELECT 1 FROM sqlite_master", -1, &first, NULL) ==
                   SQLITE_OK;
    int step = ok ? sqlite3_step(first) : SQLITE_ERROR;
    ok = ok && (step == SQLITE_ROW || step == SQLITE_DONE);
    if (!ok)
        fail(db, err);
    sqlite3_finalize(first);
    if (ok)
        return db;
    nsight_db_close(db);
    return NULL;
}

void nsight_db_close(struct nsight_db *db) {
    if (!db)
        return;
    sqlite3_close(db->handle);
    xfree(db);
}

struct table {
    char names[MOST_COLUMNS][64];
    int count;
};

/* The columns of a table; none when it is none. */
static bool find_columns(struct nsight_db *db, const char *name, struct table *out,
                         struct error *err) {
    struct text sql = {0};
    sqlite3_stmt *s = NULL;
    out->count = 0;
    text_format(&sql, "PRAGMA table_info(\"%s\")", name);
    bool ok =
        !sql.failed && sqlite3_prepare_v2(db->handle, text_get(&sql), -1, &s, NULL) == SQLITE_OK;
    int step = ok ? SQLITE_ROW : SQLITE_ERROR;
    while (ok && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(s, 1);
        if (column && strlen(column) < sizeof out->names[0] && out->count < MOST_COLUMNS)
            strcpy(out->names[out->count++], column);
    }
    ok = ok && step == SQLITE_DONE;
    if (!ok)
        sql.failed ? error_host_memory(err) : fail(db, err);
    sqlite3_finalize(s);
    text_fini(&sql);
    return ok;
}

bool nsight_db_has(struct nsight_db *db, const char *table) {
    struct table t;
    struct error ignored = {0};
    return find_columns(db, table, &t, &ignored) && t.count > 0;
}

static bool has_column(const struct table *t, const char *name) {
    for (int i = 0; i < t->count; i++)
        if (sqlite3_stricmp(t->names[i], name) == 0)
            return true;
    return false;
}

static bool walk(struct nsight_db *db, const char *sql, nsight_row_fn *each, void *user,
                 struct error *err) {
    struct nsight_row row = {NULL};
    if (sqlite3_prepare_v2(db->handle, sql, -1, &row.statement, NULL) != SQLITE_OK)
        return fail(db, err);
    int step;
    bool ok = true;
    while (ok && (step = sqlite3_step(row.statement)) == SQLITE_ROW)
        ok = each(user, &row);
    if (ok && step != SQLITE_DONE)
        ok = fail(db, err);
    sqlite3_finalize(row.statement);
    return ok;
}

bool nsight_db_each(struct nsight_db *db, const char *table, const char *const *columns,
                    nsight_row_fn *each, void *user, struct error *err) {
    struct table t;
    struct text sql = {0};
    if (!find_columns(db, table, &t, err))
        return error_wrap(err, "%s", table);
    if (t.count == 0)
        return true;
    text_add(&sql, "SELECT ");
    for (size_t i = 0; columns[i]; i++) {
        text_add(&sql, i > 0 ? ", " : "");
        if (has_column(&t, columns[i]))
            text_format(&sql, "\"%s\"", columns[i]);
        else
            text_add(&sql, "NULL");
    }
    text_format(&sql, " FROM \"%s\"", table);
    bool ok = sql.failed ? error_host_memory(err) : walk(db, text_get(&sql), each, user, err);
    text_fini(&sql);
    return ok || error_wrap(err, "%s", table);
}

bool nsight_row_i64(const struct nsight_row *row, int column, int64_t *out) {
    if (sqlite3_column_type(row->statement, column) != SQLITE_INTEGER)
        return false;
    *out = sqlite3_column_int64(row->statement, column);
    return true;
}

bool nsight_row_u64(const struct nsight_row *row, int column, uint64_t *out) {
    int64_t value;
    if (!nsight_row_i64(row, column, &value) || value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

bool nsight_row_text(const struct nsight_row *row, int column, const char **text, size_t *length) {
    if (sqlite3_column_type(row->statement, column) != SQLITE_TEXT)
        return false;
    *text = (const char *)sqlite3_column_text(row->statement, column);
    *length = *text ? (size_t)sqlite3_column_bytes(row->statement, column) : 0;
    return *text != NULL;
}
