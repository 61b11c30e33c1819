/* fuzz_pickle.c: any bytes as a pickle. The reader must end, within its budget, with a value or an
 * error. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fuzz.h"
#include "pickle.h"

static bool take_items(void *user, struct pickle *p, uint32_t container,
                       const struct pickle_value *items, size_t count, struct error *err) {
    uint64_t *sum = user, bits;
    double real;
    (void)err;
    if (container >= p->containers.count)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (pickle_get_integer(p, items[i], &bits) != PICKLE_NOT_INTEGER)
            *sum += bits;
        if (pickle_get_double(p, items[i], &real))
            *sum += real > 0;
        if (pickle_tag(items[i]) == PICKLE_STRING)
            *sum += strtab_length(&p->strings, (uint32_t)pickle_payload(items[i]));
        if (pickle_is_container(items[i]))
            *sum += pickle_container(p, (uint32_t)pickle_payload(items[i]))->count;
    }
    return true;
}

static bool take_pairs(void *user, struct pickle *p, uint32_t dict,
                       const struct pickle_value *items, size_t count, struct error *err) {
    return take_items(user, p, dict, items, 2 * count, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pickle p;
    struct pickle_value root;
    struct error err = {0};
    uint64_t sum = 0;
    const struct pickle_handler handler = {
        .user = &sum, .set_items = take_pairs, .append = take_items, .fill_tuple = take_items};
    bool ok = pickle_init(&p, data, size, &handler, 8 << 20, &err) && pickle_read(&p, &root);
    if (!ok && (err.code == ERROR_NONE || strlen(err.text) == 0))
        abort();
    pickle_fini(&p);
    return 0;
}
