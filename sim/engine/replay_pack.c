/* replay_pack.c: where blocks go best is known only when all lifetimes are: the requests are replayed once for these, with
 * nothing refused, and then with the packing found. */
#include "live_sum.h"
#include "packing.h"
#include "replay_core.h"

struct packer {
    struct lifetimes lifetimes[REPLAY_DEVICES];
    struct packing packings[REPLAY_DEVICES];
};

static void packer_destroy(struct packer *packer) {
    for (size_t i = 0; i < REPLAY_DEVICES; i++) {
        lifetimes_fini(&packer->lifetimes[i]);
        packing_fini(&packer->packings[i]);
    }
    xfree(packer);
}

static bool is_wanted(void *user) {
    const struct replay_config *config = user;
    return !config->progress || config->progress(config->progress_user, 1, 1);
}

static bool pack(const struct timeline *real, const struct replay_config *config,
                 const struct framework *framework, struct packer *packer, struct error *err) {
    struct replay_config first = *config;
    struct replay_result result;
    first.allocator = &live_sum_ops;
    first.total_bytes = first.capacity_bytes = REPLAY_NO_LIMIT;
    first.observe = NULL;
    if (!replay_once(real, &first, framework, packer->lifetimes, NULL, &result, err))
        return false;
    replay_result_fini(&result);
    first = *config;
    const struct packing_watch watch = {.goes_on = is_wanted, .user = &first};
    for (size_t i = 0; i < REPLAY_DEVICES; i++)
        if (!packing_make(&packer->lifetimes[i], &watch, &packer->packings[i], err))
            return false;
    return true;
}

bool replay_twice(const struct timeline *real, const struct replay_config *config,
                  const struct framework *framework, struct replay_result *out, struct error *err) {
    struct packer *packer = xcalloc(1, sizeof *packer);
    *out = (struct replay_result){0};
    if (!packer)
        return error_host_memory(err);
    bool ok = pack(real, config, framework, packer, err) &&
              replay_once(real, config, framework, NULL, packer->packings, out, err);
    packer_destroy(packer);
    return ok;
}
