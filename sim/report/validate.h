/* validate.h: the forms of a comparison of a simulated run with a real one (compare.h). */
#ifndef VALIDATE_H
#define VALIDATE_H

struct comparison;
struct text;

/* `tolerance` < 0: none was given, and the verdict is only whether the two are equal. */
void validate_text(const struct comparison *comparison, double tolerance, struct text *out);
void validate_json(const struct comparison *comparison, double tolerance, struct text *out);

#endif
