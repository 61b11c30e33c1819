/* viz_strange.h: runs at the edge of what there is, for the viewer's tests. */
#ifndef VIZ_STRANGE_H
#define VIZ_STRANGE_H

#include <string.h>

#include "viz_fixture.h"

enum strange {
    STRANGE_NO_EVENTS,
    STRANGE_ONE_EVENT,
    STRANGE_NO_BYTES, /* a device of none, a block of none */
    STRANGE_ALL_LIVE, /* nothing is ever freed */
    STRANGE_WORDY,    /* texts of 3,000 characters */
    STRANGE_HUGE,     /* a block of 2^63 bytes */
    STRANGE_COUNT
};

static const char *const strange_names[STRANGE_COUNT] = {
    "no events", "one event", "no bytes", "all live", "3,000 characters", "2^63 bytes"};

static inline struct timeline *strange_make(enum strange which) {
    struct fixture f = fixture_start(strange_names[which]);
    char text[3001];
    switch (which) {
    case STRANGE_NO_EVENTS:
        f.tl->has = 0;
        break;
    case STRANGE_ONE_EVENT:
        fixture_segment(&f, 1);
        break;
    case STRANGE_NO_BYTES:
        fixture_device(&f, "none", 0, 0);
        fixture_alloc(&f, 0, CATEGORY_UNKNOWN, "", "");
        break;
    case STRANGE_ALL_LIVE:
        for (int i = 0; i < 3000; i++) {
            f.time_ns += 1000;
            fixture_alloc(&f, UINT64_C(512) << (i % 16), (enum category)(i % CATEGORY_COUNT),
                          "model", "aten::empty");
        }
        break;
    case STRANGE_WORDY:
        memset(text, 'w', 3000);
        text[3000] = '\0';
        f.tl->title = timeline_string(f.tl, text);
        fixture_begin(&f, text);
        fixture_alloc(&f, 512, CATEGORY_INPUT, text, text);
        break;
    case STRANGE_HUGE:
        f.reserved_bytes = UINT64_MAX;
        fixture_alloc(&f, UINT64_C(1) << 63, CATEGORY_UNKNOWN, "x", "y");
        break;
    case STRANGE_COUNT:
        break;
    }
    return f.tl;
}

#endif
