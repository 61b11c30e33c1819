/* fuzz_scenario.c: any bytes as a scenario, with small limits. The run must end, with a result or an error that says
 * something; nothing is let go twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "scenario_run.h"

static bool write_file(char *path, const uint8_t *data, size_t size) {
    int f = mkstemp(path);
    if (f < 0)
        return false;
    bool ok = write(f, data, size) == (ssize_t)size;
    return close(f) == 0 && ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[] = "/tmp/vramsim-fuzz-XXXXXX";
    struct scenario_case c = {.sink = {.quiet = true}};
    struct scenario_options options = {.max_instructions = 300000, .max_lua_bytes = 4 << 20};
    if (size > 0)
        c.sink.fail_at = data[size - 1] % 8 == 0 ? 1 + data[size - 1] / 8 : 0;
    if (write_file(path, data, size)) {
        bool ok = scenario_case_run(&c, path, &options);
        if (c.sink.broken || (!ok && (c.error.code == ERROR_NONE || c.error.text[0] == '\0')))
            abort();
        scenario_case_fini(&c);
    }
    unlink(path);
    return 0;
}
