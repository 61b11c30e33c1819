/* fuzz_marks.c: any bytes as a chunk. Marks taken out again leave what was there; a chunk is Lua with marks exactly when
 * it is Lua without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "host.h"

static const char mark[] = ";__mark() ";

static bool is_same_without_marks(const struct text *marked, const char *source, size_t size) {
    const char *p = text_get(marked), *end = p + marked->length;
    size_t at = 0, n = sizeof mark - 1;
    while (p < end) {
        if (at < size && *p == source[at] && !((size_t)(end - p) >= n && memcmp(p, mark, n) == 0)) {
            p++;
            at++;
        } else if ((size_t)(end - p) >= n && memcmp(p, mark, n) == 0) {
            p += n;
        } else {
            return false;
        }
    }
    return at == size;
}

/* Limits of Lua's own compiler may be met a little earlier with marks. */
static bool is_limit(const char *text) {
    return strstr(text, "too many") || strstr(text, "overflow") || strstr(text, "limit");
}

static void compare_loads(const char *source, size_t size, const struct text *marked) {
    lua_State *L = luaL_newstate();
    if (!L)
        return;
    int plain = luaL_loadbufferx(L, source, size, "=x", "t");
    int with = luaL_loadbufferx(L, text_get(marked), marked->length, "=x", "t");
    if ((plain == LUA_OK) != (with == LUA_OK) &&
        !(with != LUA_OK && is_limit(lua_tostring(L, -1)))) {
        fprintf(stderr, "with marks: %s\n%s\n", with ? lua_tostring(L, -1) : "fine",
                text_get(marked));
        abort();
    }
    lua_close(L);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text marked = {0};
    char *source = malloc(size + 1);
    if (!source)
        return 0;
    memcpy(source, data, size);
    source[size] = '\0';
    if (!strstr(source, "__mark") && strlen(source) == size && source[0] != '\033') {
        if (!marks_insert(source, size, &marked) || !is_same_without_marks(&marked, source, size))
            abort();
        compare_loads(source, size, &marked);
    }
    text_fini(&marked);
    free(source);
    return 0;
}
