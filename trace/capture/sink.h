/* sink.h: the file of a capture: records -> blocks, each one write(2), so that what was written survives a kill -9. A
 * failed write ends the capture with one line on standard error; the program runs on. */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rings;
struct sink;
struct strings;

/* `path`: a pattern with %h (host), %p (pid), %r (rank). A file that is there stays as it is: ".<pid>" and numbers are
 * added to the name. NULL: one line on standard error said why. */
struct sink *sink_open(const char *path, struct strings *strings);
/* What stands in the header, until the first block is written. */
void sink_set_header(struct sink *sink, uint64_t sources, const char *json);
/* Whole records, in any thread but one that holds a lock of CUPTI's. */
void sink_add(struct sink *sink, const uint8_t *records, size_t bytes);
/* What is in the rings; then the block goes out. */
void sink_flush(struct sink *sink, struct rings *rings);
/* END (`reason`: enum end_reason), and the file is closed. */
void sink_end(struct sink *sink, uint64_t dropped, uint32_t reason);
/* In a forked child: the file is the parent's. */
void sink_forget(struct sink *sink);
bool sink_is_open(const struct sink *sink);

#endif
