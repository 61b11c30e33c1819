/* memory_format.h: ops that mind whether an image is contiguous or channels last. See tensor.h for
 * what these are. */
#ifndef MEMORY_FORMAT_H
#define MEMORY_FORMAT_H

#include "tape.h"

enum memory_format { FORMAT_CONTIGUOUS, FORMAT_CHANNELS_LAST };

/* Channels last needs 4 or 5 dims; with others it is contiguous. */
void strides_format(const struct shape *shape, enum memory_format format,
                    int64_t stride[TENSOR_MAX_DIMS]);
bool tensor_is_format(const struct tensor *t, enum memory_format format);
/* Tensor.suggest_memory_format() */
enum memory_format tensor_suggest_format(const struct tensor *t);

struct tensor *tape_new_format(struct tape *tape, enum dtype dtype, const struct shape *shape,
                               enum memory_format format);
/* contiguous(memory_format): the same tensor when it is. */
struct tensor *aten_contiguous_format(struct tape *tape, struct tensor *t,
                                      enum memory_format format);

#endif
