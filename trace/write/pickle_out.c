/* pickle_out.c: see pickle_out.h. Opcodes: Lib/pickle.py of CPython. */
#include "pickle_out.h"

#include <string.h>

#include "text.h"

enum { BATCH = 1000 }; /* as Python's: a reader's stack holds one of them */

static void op(struct pickle_out *p, char opcode) {
    text_add_bytes(p->out, &opcode, 1);
}

static void little(struct pickle_out *p, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        op(p, (char)(value >> 8 * i & 0xff));
}

void pickle_out_begin(struct pickle_out *p, struct text *out) {
    *p = (struct pickle_out){.out = out};
    text_add_bytes(out, "\x80\x04", 2);
}

void pickle_out_end(struct pickle_out *p) {
    op(p, '.');
}

void pickle_out_dict(struct pickle_out *p) {
    text_add_bytes(p->out, "}(", 2);
}

void pickle_out_end_dict(struct pickle_out *p) {
    op(p, 'u');
}

void pickle_out_list(struct pickle_out *p) {
    op(p, ']');
}

void pickle_out_item(struct pickle_out *p, uint32_t *count) {
    if (*count % BATCH == 0)
        text_add_bytes(p->out, "e(", *count == 0 ? 0 : 2);
    if (*count == 0)
        op(p, '(');
    ++*count;
}

void pickle_out_end_list(struct pickle_out *p, uint32_t count) {
    if (count > 0)
        op(p, 'e');
}

void pickle_out_u64(struct pickle_out *p, uint64_t value) {
    if (value <= UINT8_MAX) {
        op(p, 'K');
        little(p, value, 1);
    } else if (value <= UINT16_MAX) {
        op(p, 'M');
        little(p, value, 2);
    } else if (value <= INT32_MAX) {
        op(p, 'J');
        little(p, value, 4);
    } else {
        unsigned bytes = 4;
        while (bytes < 8 && value >> (8 * bytes - 1) != 0)
            bytes++;
        bytes += bytes == 8 && value >> 63; /* the sign is a bit of its own */
        op(p, (char)0x8a);
        little(p, bytes, 1);
        little(p, value, bytes < 8 ? bytes : 8);
        if (bytes == 9)
            op(p, 0);
    }
}

void pickle_out_i64(struct pickle_out *p, int64_t value) {
    if (value >= 0) {
        pickle_out_u64(p, (uint64_t)value);
    } else if (value >= INT32_MIN) {
        op(p, 'J');
        little(p, (uint64_t)value, 4);
    } else {
        text_add_bytes(p->out, "\x8a\x08", 2);
        little(p, (uint64_t)value, 8);
    }
}

void pickle_out_double(struct pickle_out *p, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    op(p, 'G');
    for (unsigned i = 8; i-- > 0;)
        op(p, (char)(bits >> 8 * i & 0xff));
}

void pickle_out_bool(struct pickle_out *p, bool value) {
    op(p, (char)(value ? 0x88 : 0x89));
}

void pickle_out_pair(struct pickle_out *p, uint64_t first, uint64_t second) {
    pickle_out_u64(p, first);
    pickle_out_u64(p, second);
    op(p, (char)0x86);
}

/* Well-formed runs, and what stands for what is not. */
static void add_clean(const char *value, struct text *out) {
    while (*value) {
        const char *run = value;
        size_t n;
        while (*value && (n = text_utf8_length(value, SIZE_MAX)) > 0)
            value += n;
        text_add_bytes(out, run, (size_t)(value - run));
        if (*value) {
            text_add(out, "\xef\xbf\xbd");
            value++;
        }
    }
}

void pickle_out_text(struct pickle_out *p, const char *value) {
    struct text clean = {0};
    add_clean(value, &clean);
    if (clean.length <= UINT8_MAX) {
        op(p, (char)0x8c);
        little(p, clean.length, 1);
    } else {
        op(p, 'X');
        little(p, clean.length, 4);
    }
    text_add(p->out, text_get(&clean));
    p->out->failed = p->out->failed || clean.failed || clean.length > UINT32_MAX;
    text_fini(&clean);
}

uint32_t pickle_out_keep(struct pickle_out *p) {
    op(p, (char)0x94);
    return p->memo++;
}

void pickle_out_again(struct pickle_out *p, uint32_t kept) {
    op(p, kept <= UINT8_MAX ? 'h' : 'j');
    little(p, kept, kept <= UINT8_MAX ? 1 : 4);
}

void pickle_out_shared(struct pickle_out *p, const char *value, uint32_t *kept) {
    if (*kept != PICKLE_UNKNOWN) {
        pickle_out_again(p, *kept);
        return;
    }
    pickle_out_text(p, value);
    *kept = pickle_out_keep(p);
}
