/* format.h: numbers, foreign texts and columns of the text writers. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct text;

/* A text from a file or a trace, fit for a terminal: control characters and bytes that are not
 * UTF-8 become '?'. */
void format_safe(struct text *out, const char *s);
/* Likewise, but lines stay lines: all after the first begin with `indent` blanks. */
void format_safe_lines(struct text *out, const char *s, size_t indent);
/* Like format_safe, at most `width` characters; what is cut off shows as "...". */
void format_safe_cut(struct text *out, const char *s, size_t width);
/* Blanks until the line that began at byte `line_begin` has `width` characters (at least one blank
 * when it has more). */
void format_pad(struct text *out, size_t line_begin, size_t width);
size_t format_width(const char *s, size_t length); /* characters of UTF-8 */

/* "   54,432,121,856 B     50.69 GiB     54.43 GB"; below a GiB in MiB and MB */
void format_bytes(struct text *out, uint64_t bytes);
enum { FORMAT_BYTES_WIDTH = 46 };
/* The head of such columns, as wide. */
void format_bytes_head(struct text *out);
/* "54.43 GB (50.69 GiB)"; below a MB "1,536 B". */
void format_short(struct text *out, uint64_t bytes);
/* "12.3 %", "-"; `whole` 0: "-" */
void format_share(struct text *out, uint64_t part, uint64_t whole);
/* "1.234 ms" */
void format_time(struct text *out, uint64_t time_ns);

#endif
