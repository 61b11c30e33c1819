/* nsight_db.h: a database of SQLite in memory, of which nothing is trusted: read only, no views, no
 * triggers, no functions of its schema, bounded work. SQLite is named in nsight_db.c alone. */
#ifndef NSIGHT_DB_H
#define NSIGHT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_options;
struct nsight_db;
struct nsight_row;

/* `data` must outlive it. NULL: not a database that can be opened, host memory. */
struct nsight_db *nsight_db_open(const uint8_t *data, size_t length,
                                 const struct trace_options *options, struct error *err);
void nsight_db_close(struct nsight_db *db);
/* Is there a table of that name? A missing one means that nothing was recorded. */
bool nsight_db_has(struct nsight_db *db, const char *table);

/* False ends the walk; it has then set the error. */
typedef bool nsight_row_fn(void *user, const struct nsight_row *row);

/* Each row in the table's own order; none when there is no such table. `columns` ends with NULL; one
 * that the table lacks is null in every row. False: damage, a limit, interrupted, what `each` set. */
bool nsight_db_each(struct nsight_db *db, const char *table, const char *const *columns,
                    nsight_row_fn *each, void *user, struct error *err);

/* Of the column at that place in `columns`. False: null, or another type. Texts are good until the
 * next row. */
bool nsight_row_i64(const struct nsight_row *row, int column, int64_t *out);
bool nsight_row_u64(const struct nsight_row *row, int column, uint64_t *out); /* not negative */
bool nsight_row_text(const struct nsight_row *row, int column, const char **text, size_t *length);

#endif
