/* The importer of SQLite exports of Nsight Systems: the driver's allocations are segments, pools are
 * totals, tables that are not there were not recorded, databases of strangers do no harm. */
#include "suite.h"

#include <sqlite3.h>
#include <string.h>

#include "failing_alloc.h"
#include "importer.h"
#include "peak.h"
#include "text.h"
#include "timeline.h"

struct database {
    unsigned char *bytes; /* sqlite3_free */
    sqlite3_int64 length;
};

static struct database make(const char *sql) {
    sqlite3 *db;
    struct database d;
    char *message = NULL;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    d.bytes = sqlite3_serialize(db, "main", &d.length, 0);
    assert_non_null(d.bytes);
    sqlite3_close(db);
    return d;
}

struct imported {
    struct timeline *tl;
    struct trace_facts facts;
    struct text dump;
};

static bool try_import(const char *sql, struct imported *in, struct error *err) {
    struct database d = make(sql);
    *in = (struct imported){0};
    *err = (struct error){0};
    bool ok = trace_import_bytes("db", d.bytes, (size_t)d.length, NULL, &in->tl, &in->facts, err);
    sqlite3_free(d.bytes);
    return ok;
}

static struct imported import(const char *sql) {
    struct imported in;
    struct error err;
    assert_ok(try_import(sql, &in, &err), err);
    assert_ok(timeline_check(in.tl, &err), err);
    timeline_dump(in.tl, false, &in.dump);
    return in;
}

static void fini(struct imported *in) {
    timeline_destroy(in->tl);
    trace_facts_fini(&in->facts);
    text_fini(&in->dump);
}

/* Process 5, threads of it; two processes' ordinals. */
#define PID "83886080"
#define TABLES                                                                                     \
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"                                        \
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.27.0');"                       \
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"                                 \
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1000000);"                                  \
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INT, cudaId INT, pid INT);"                        \
    "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1,0,5);"                                           \
    "CREATE TABLE StringIds(id INT, value TEXT);"                                                  \
    "INSERT INTO StringIds VALUES(1,'cudaMalloc_v3020'),(2,'cudaFree_v3020'),(3,'step'),"          \
    "(4,'cuMemCreate'),(5,'never asked for');"                                                     \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, globalTid INT, correlationId INT, "       \
    "nameId "                                                                                      \
    "INT);"                                                                                        \
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT);"
#define MEMORY                                                                                     \
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start INT, globalPid INT, deviceId INT, contextId " \
    "INT, "                                                                                        \
    "address INT, bytes INT, memKind INT, memoryOperationType INT, correlationId INT, streamId "   \
    "INT, "                                                                                        \
    "localMemoryPoolAddress INT, localMemoryPoolSize INT);"
#define ROW "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES("

static const char plain[] = TABLES MEMORY
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(5," PID "+7,11,1),(40," PID "+7,12,2);"
    "INSERT INTO NVTX_EVENTS VALUES(1,90,59,NULL,3),(2,NULL,34,'a "
    "mark',NULL),(30,35,60,'inner',NULL);"
    /* out of order, the second is older than the recording, the third of the host */
    ROW "40," PID ",0,1,4096,1000,2,1,12,7,NULL,NULL);" ROW "10," PID
    ",0,1,4096,1000,2,0,11,7,NULL,NULL);" ROW "50," PID ",0,1,90000,64,2,1,NULL,7,NULL,NULL);" ROW
    "20," PID ",0,1,777,5000,1,0,NULL,NULL,NULL,NULL);";

TEST(what_the_driver_gave_is_a_segment) {
    USE_STATE;
    struct imported in = import(plain);
    assert_string_equal(
        text_get(&in.dump),
        "0 t=1000001 phase_begin step\n"
        "1 t=1000010 segment_alloc 1000\n"
        "2 t=1000010 alloc b1 1000 block 1000 @s1+0 unknown - cudaMalloc - - stream 1\n"
        "3 t=1000030 phase_begin inner\n"
        "4 t=1000035 phase_end inner\n"
        "5 t=1000040 free_requested b1 1000 block 1000 @s1+0 stream 1\n"
        "6 t=1000040 free_completed b1 1000 block 1000 @s1+0 stream 1\n"
        "7 t=1000040 segment_free 1000\n"
        "8 t=1000050 free_requested b0 64 block 64 @s0+0\n"
        "9 t=1000050 free_completed b0 64 block 64 @s0+0\n"
        "10 t=1000050 segment_free 64\n"
        "11 t=1000090 phase_end step\n");
    struct peaks peaks;
    peak_find(in.tl, 1, &peaks);
    assert_bytes_equal(peaks.reserved.bytes, 1064);
    assert_true(timeline_knows(in.tl, FIGURE_RESERVED));
    assert_false(timeline_knows(in.tl, FIGURE_ALLOCATED));
    assert_false(timeline_knows(in.tl, FIGURE_PLACEMENT));
    assert_int_equal(in.tl->warnings, 1); /* what is older */
    fini(&in);
}

TEST(pools_are_totals_and_their_allocations_blocks) {
    USE_STATE;
    struct imported in = import(
        TABLES MEMORY ROW
        "10," PID ",0,1,4096,1000,2,0,NULL,7,64,4000);" ROW "20," PID
        ",0,1,8192,3500,2,0,NULL,7,64,6000);" ROW "30," PID ",0,1,4096,1000,2,1,NULL,7,64,6000);"
        "CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS(start, "
        "globalPid, deviceId, address, operationType, "
        "localMemoryPoolSize);"
        "INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS VALUES(40," PID ",0,64,3,3500);");
    struct peaks peaks;
    peak_find(in.tl, 1, &peaks);
    assert_bytes_equal(peaks.allocated.bytes, 4500);
    assert_bytes_equal(peaks.reserved.bytes, 6000);
    assert_bytes_equal(peaks.at_end.reserved, 3500);
    assert_true(timeline_knows(in.tl, FIGURE_ALLOCATED));
    assert_true(in.tl->has & TIMELINE_SUMS_SEGMENTS);
    fini(&in);
}

TEST(enums_are_those_of_the_file) {
    USE_STATE;
    struct imported in = import(
        TABLES MEMORY "CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER(id, name, label);"
                      "INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES(7,'','Allocation'),(8,'',"
                      "'Deallocation');"
                      "CREATE TABLE ENUM_CUDA_MEM_KIND(id, name, label);"
                      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES(4,'','Device');" ROW "1," PID
                      ",0,1,4096,1000,4,7,NULL,NULL,NULL,NULL);" ROW "2," PID
                      ",0,1,4096,1000,4,8,NULL,NULL,NULL,NULL);" ROW "3," PID
                      ",0,1,4096,1000,4,1,NULL,NULL,NULL,NULL);");
    assert_int_equal(in.tl->segments.count, 1);
    assert_int_equal(in.tl->warnings, 1); /* operation 1 is none */
    fini(&in);
}

TEST(without_memory_events_nothing_is_known_of_it) {
    USE_STATE;
    struct imported in = import(TABLES);
    assert_false(timeline_knows(in.tl, FIGURE_RESERVED));
    assert_non_null(strstr(timeline_text(in.tl, in.tl->first_warning), "--cuda-memory-usage=true"));
    fini(&in);
}

TEST(reservations_without_sizes_are_told) {
    USE_STATE;
    struct imported in =
        import(TABLES MEMORY "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(5," PID "+7,11,4);");
    assert_non_null(strstr(timeline_text(in.tl, in.tl->first_warning), "lower bound"));
    fini(&in);
}

TEST(absurd_rows_are_survived) {
    USE_STATE;
    struct imported in = import(
        TABLES MEMORY ROW
        "-1," PID ",0,1,4096,1000,2,0,1,1,1,1);" ROW "'x',1,2,3,4,5,6,7,8,9,10,11);" ROW "1," PID
        ",0,1,-4096,9223372036854775807,2,0,1,1,NULL,NULL);" ROW "1," PID
        ",999999,1,5,1000,2,0,1,1,NULL,NULL);" ROW "2," PID ",0,1,4096,10,2,0,1,-1,NULL,NULL);" ROW
        "2," PID ",0,1,4096,10,2,0,1,-1,NULL,NULL);" ROW "3," PID
        ",0,1,5,70000000000000,2,0,1,-1,9,9223372036854775807);"
        "INSERT INTO NVTX_EVENTS VALUES(50,10,59,'back',NULL),(1,2,59,NULL,99);");
    assert_true(in.tl->warnings >= 3);
    fini(&in);
}

TEST(a_database_of_something_else_is_refused) {
    USE_STATE;
    struct imported in;
    struct error err;
    assert_false(try_import("CREATE TABLE t(a); INSERT INTO t VALUES(1);", &in, &err));
    assert_non_null(strstr(err.text, "Nsight"));
    assert_int_equal(err.code, ERROR_BAD_INPUT);
}

/* Views could run for ever; functions of the schema are not called. */
TEST(views_and_computed_columns_do_nothing) {
    USE_STATE;
    struct imported in;
    struct error err;
    assert_false(try_import(
        "CREATE TABLE META_DATA_EXPORT(name, value);"
        "CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS(start, address, bytes) AS WITH RECURSIVE "
        "c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x, x, x FROM c;",
        &in, &err));
    assert_int_equal(err.code, ERROR_BAD_INPUT);
    in = import("CREATE TABLE META_DATA_EXPORT(name, value AS (hex(zeroblob(1000000))));"
                "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION');");
    assert_null(trace_figure_find(&in.facts, NULL, "schema"));
    fini(&in);
}

TEST(damage_is_refused_or_survived) {
    USE_STATE;
    struct database d = make(plain);
    for (sqlite3_int64 at = 0; at < d.length; at += at < 4096 ? 7 : 61) {
        struct timeline *tl = NULL;
        struct error err = {0};
        unsigned char old = d.bytes[at];
        d.bytes[at] ^= 0xff;
        if (trace_import_bytes("db", d.bytes, (size_t)d.length, NULL, &tl, NULL, &err))
            assert_ok(timeline_check(tl, &err), err);
        timeline_destroy(tl);
        d.bytes[at] = old;
    }
    for (sqlite3_int64 length = 0; length < d.length; length += 997) {
        struct timeline *tl = NULL;
        struct error err = {0};
        (void)trace_import_bytes("db", d.bytes, (size_t)length, NULL, &tl, NULL, &err);
        timeline_destroy(tl);
    }
    sqlite3_free(d.bytes);
}

TEST(every_failing_allocation_is_handed_up) {
    USE_STATE;
    struct database d = make(plain);
    struct failing_alloc f = {.fail_at = 1};
    for (bool done = false; !done; f.fail_at++) {
        struct timeline *tl = NULL;
        struct trace_facts facts = {0};
        struct error err = {0};
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        done = trace_import_bytes("db", d.bytes, (size_t)d.length, NULL, &tl, &facts, &err);
        timeline_destroy(tl);
        trace_facts_fini(&facts);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(err.code, done ? ERROR_NONE : ERROR_HOST_MEMORY);
    }
    sqlite3_free(d.bytes);
}

SUITE(cmocka_unit_test(what_the_driver_gave_is_a_segment),
      cmocka_unit_test(pools_are_totals_and_their_allocations_blocks),
      cmocka_unit_test(enums_are_those_of_the_file),
      cmocka_unit_test(without_memory_events_nothing_is_known_of_it),
      cmocka_unit_test(reservations_without_sizes_are_told),
      cmocka_unit_test(absurd_rows_are_survived),
      cmocka_unit_test(a_database_of_something_else_is_refused),
      cmocka_unit_test(views_and_computed_columns_do_nothing),
      cmocka_unit_test(damage_is_refused_or_survived),
      cmocka_unit_test(every_failing_allocation_is_handed_up))
