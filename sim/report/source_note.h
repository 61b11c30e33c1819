/* source_note.h: what a source does not tell, in words, so that no reader takes a gap for a zero. */
#ifndef SOURCE_NOTE_H
#define SOURCE_NOTE_H

struct text;
struct timeline;

/* A line a gap, each "note: ..."; nothing for snapshots and simulations. */
void source_note(const struct timeline *tl, struct text *out);

#endif
