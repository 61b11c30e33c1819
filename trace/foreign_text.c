/* foreign_text.c: see foreign_text.h. */
#include "foreign_text.h"

#include "strtab.h"
#include "text.h"

static bool is_control(unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

static void repair(const char *from, size_t length, struct text *out) {
    for (size_t i = 0; i < length;) {
        size_t n = is_control((unsigned char)from[i]) ? 0 : text_utf8_length(from + i, length - i);
        if (n > 0)
            text_add_bytes(out, from + i, n);
        else
            text_add(out, "\xef\xbf\xbd");
        i += n > 0 ? n : 1;
    }
}

static bool is_printable_ascii(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

bool foreign_text_intern(struct strtab *table, const char *text, size_t length, uint32_t *id) {
    if (is_printable_ascii(text, length))
        return strtab_add(table, text, length, id);
    struct text repaired = {0};
    repair(text, length, &repaired);
    bool ok = !repaired.failed && strtab_add(table, text_get(&repaired), repaired.length, id);
    text_fini(&repaired);
    return ok;
}
