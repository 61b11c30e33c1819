/* csv_field.c: see csv_field.h. */
#include "csv_field.h"

#include <string.h>

#include "text.h"

void csv_field(struct text *out, const char *s) {
    if (!s[strcspn(s, ",\"\r\n")]) {
        text_add(out, s);
        return;
    }
    text_add(out, "\"");
    for (; *s; s++) {
        if (*s == '"')
            text_add(out, "\"");
        text_add_bytes(out, s, 1);
    }
    text_add(out, "\"");
}
