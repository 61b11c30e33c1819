/* estimate_table.h: parameters, gradients, optimizer states, activations, temporary buffers and their
 * sum, with this run's own figure and variant in each row, and why the sum is not the peak; beside
 * them a textbook estimate where there is one for the run. */
#ifndef ESTIMATE_TABLE_H
#define ESTIMATE_TABLE_H

#include <stdbool.h>

struct report;
struct text;

/* Has the run gradients or optimizer states? Only then the table says something. */
bool estimate_table_applies(const struct report *report);
/* The columns of an estimate are printed when the run names one (report_run.estimate). */
void estimate_table_write(const struct report *report, struct text *out);

#endif
