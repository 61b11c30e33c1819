/* csv_field.h: a field of a CSV file (RFC 4180). */
#ifndef CSV_FIELD_H
#define CSV_FIELD_H

struct text;

/* One with a comma, quote or line end stands in quotes, its quotes doubled. */
void csv_field(struct text *out, const char *value);

#endif
