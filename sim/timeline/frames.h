/* frames.h: which frames of a recorded stack tell a person who asked for memory. Stacks may begin
 * with the recorder's own frames and those of the C++ core, and with Python of PyTorch or JAX itself. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>

struct text;
struct timeline;
struct timeline_frame;

/* The innermost frame of the user's Python; without one, of any Python, of autograd, outside the
 * core; else of the core. NULL: no frames. */
const struct timeline_frame *frames_best(const struct timeline *tl, uint32_t stack);
/* The stack without what tells less: its Python frames when it has any, else those of frames_best()'s
 * kind or better. `index` counts from the innermost; NULL: there are no more. */
const struct timeline_frame *frames_useful(const struct timeline *tl, uint32_t stack,
                                           uint32_t index);
/* "function (file:line)", as foreign as the source. */
void frames_add(const struct timeline *tl, const struct timeline_frame *frame, struct text *out);
uint32_t frames_useful_count(const struct timeline *tl, uint32_t stack);

#endif
