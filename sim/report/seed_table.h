/* seed_table.h: the table of the original request: parameters, gradients, optimizer states,
 * activations, temporary buffers and their sum, with this run's own figure and variant in each row,
 * and why the sum is not the peak. */
#ifndef SEED_TABLE_H
#define SEED_TABLE_H

#include <stdbool.h>

struct report;
struct text;

/* Has the run gradients or optimizer states? Only then the table says something. */
bool seed_table_applies(const struct report *report);
/* The columns of the original request are printed when the run is its case
 * (report_run.is_seed_case). */
void seed_table_write(const struct report *report, struct text *out);

#endif
