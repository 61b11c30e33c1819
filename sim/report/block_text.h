/* block_text.h: a block in a line: who asked for it, and when it goes. */
#ifndef BLOCK_TEXT_H
#define BLOCK_TEXT_H

struct text;
struct timeline;
struct timeline_block;

/* "  aten::mm  model.layers.3.mlp  weight"; without such names the source line that asked; else
 * nothing. */
void block_text_names(const struct timeline *tl, const struct timeline_block *block,
                      struct text *out);
/* "until event 512, step 1/backward", "to the end" */
void block_text_until(const struct timeline *tl, const struct timeline_block *block,
                      struct text *out);

#endif
