/* page.h: what the window shows as one HTML file that needs nothing else: no network, no font, no script
 * but its own. It opens from a disk and as an artifact of a pull request.
 *
 * The file is page.html with the data in its middle, as JSON: for each timeline the moments that are kept
 * and, between one and the next, what each kind of block gained or lost (page_kinds.h, page_track.h). With
 * few enough events every moment is kept and all figures are those of the window. Else moments are put
 * together by buckets of which the first moment, the first maximum and minimum of allocated, the first
 * maximum of reserved and failed requests are kept: no spike is lost, every figure shown is exact for
 * its moment; the page says how many events a bucket has.
 *
 * Trace texts reach the page as data alone ("<" never stands in it) and the script shows them as text. */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>

struct app;
struct error;
struct text;

/* The state of `app` (cursor, view, theme, language, second timeline) is the page's at its start. False:
 * host memory. */
bool page_write(struct app *app, struct text *out, struct error *err);

#endif
