/* parameters.h: the declared parameters of the scenario that is shown, as rows whose values a person
 * changes. Plain data: what runs the scenario again is not here.
 *
 * Ownership: owns all texts. Zero bytes: none. */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "array.h"

enum parameter_kind {
    PARAMETER_INTEGER,
    PARAMETER_NUMBER,
    PARAMETER_BOOLEAN,
    PARAMETER_CHOICE,
    PARAMETER_TEXT /* any text, or a list: is shown only */
};

struct parameter {
    const char *name, *help, *value;
    const char *opened;  /* the value that the file was opened with */
    const char *usual;   /* the default */
    const char *choices; /* "a|b|c" of a PARAMETER_CHOICE */
    enum parameter_kind kind;
    bool has_min, has_max;
    double min, max;
};

struct parameter_change {
    size_t row;
    char *before;
};

struct parameters {
    ARRAY(struct parameter) rows;
    ARRAY(struct parameter_change) changes; /* to be taken back, the last first */
};

/* Copies the rows and forgets the changes. False: host memory; there are none then. */
bool parameters_set(struct parameters *parameters, const struct parameter *rows, size_t count);
void parameters_fini(struct parameters *parameters);

/* How a value changes: an integer by the power of two nearest below an eighth of it, a choice to its
 * neighbour; or by one; or to the half and the double. */
enum parameter_step { PARAMETER_STEP, PARAMETER_ONE, PARAMETER_TWICE };

enum { PARAMETER_VALUE = 256 };

/* The value after a step up (or down), inside the bounds. False: it stays what it is. */
bool parameter_next(const struct parameter *parameter, enum parameter_step step, bool up,
                    char out[PARAMETER_VALUE]);
/* Sets a value and keeps the one before. False: host memory; nothing is changed. */
bool parameters_change(struct parameters *parameters, size_t row, const char *value);
/* Takes the last change back. False: there is none. */
bool parameters_undo(struct parameters *parameters, size_t *row);
bool parameter_is_usual(const struct parameter *parameter);
/* "1 ..", "fp32 | bf16", ... */
void parameter_range(const struct parameter *parameter, char out[PARAMETER_VALUE]);

#endif
