/* svg.h: a draw list as a scalable picture: a path a band, texts as text. */
#ifndef SVG_H
#define SVG_H

struct draw_list;
struct text;

void svg_write(const struct draw_list *list, struct text *out);

#endif
