/* ranks_report.h: the table of the ranks of a run, and what is odd of which. */
#ifndef RANKS_REPORT_H
#define RANKS_REPORT_H

struct ranks;
struct text;

/* `files`: the name of each rank's file, by its number there. */
void ranks_report_text(const struct ranks *ranks, const char *const *files, struct text *out);
void ranks_report_json(const struct ranks *ranks, const char *const *files, struct text *out);

#endif
