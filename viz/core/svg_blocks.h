/* svg_blocks.h: the blocks of a plot as SVG, a path each along its columns: the largest 5,000 that are
 * two pixels high somewhere. */
#ifndef SVG_BLOCKS_H
#define SVG_BLOCKS_H

struct draw_command;
struct draw_list;
struct text;

void svg_blocks(const struct draw_list *list, const struct draw_command *command, struct text *out);

#endif
