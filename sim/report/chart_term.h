/* chart_term.h: the timeline as a picture of characters: bands by category stacked on what lives
 * outside the allocator, the reserved and capacity lines, the peak marked, the phases along the
 * axis.
 *
 *            v peak 50.69 GiB, step 1/optimizer
 *   79.3 GiB |===================== capacity
 *            |          -----------  reserved
 *   39.6 GiB |    GGG   SSSSSSSSSSS
 *            |PPPPPPPPPPPPPPPPPPPPP
 *          0 +---------------------
 *             |model |step 1
 *
 * Without colour the bands are letters; with it (256-colour ANSI) they are blocks, in eighths of a
 * row with Unicode. */
#ifndef CHART_TERM_H
#define CHART_TERM_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct text;
struct timeline;

struct chart_term_options {
    uint8_t device;
    uint32_t width,
        height; /* of the whole in characters, of the plot in rows; raised to 40 and 4 */
    bool has_colour, has_unicode;
    bool by_time;
};

/* False: host memory. */
bool chart_term_write(const struct timeline *tl, const struct chart_term_options *options,
                      struct text *out, struct error *err);

#endif
