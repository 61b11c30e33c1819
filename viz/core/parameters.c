/* parameters.c: see parameters.h. */
#include "parameters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

/* The texts of a row are its own, though const to others. */
static void free_text(const char *text) {
    union {
        const char *seen;
        char *own;
    } as = {text};
    xfree(as.own);
}

static void free_row(struct parameter *row) {
    free_text(row->name);
    free_text(row->help);
    free_text(row->value);
    free_text(row->opened);
    free_text(row->usual);
    free_text(row->choices);
}

static char *copy(const char *text) {
    return xstrdup(text ? text : "");
}

static bool add_row(struct parameters *parameters, const struct parameter *row) {
    struct parameter own = *row;
    own.name = copy(row->name);
    own.help = copy(row->help);
    own.value = copy(row->value);
    own.opened = copy(row->opened);
    own.usual = copy(row->usual);
    own.choices = copy(row->choices);
    bool copied = own.name && own.help && own.value && own.opened && own.usual && own.choices;
    if (copied && array_push(&parameters->rows, own))
        return true;
    free_row(&own);
    return false;
}

void parameters_fini(struct parameters *parameters) {
    for (size_t i = 0; i < parameters->rows.count; i++)
        free_row(&parameters->rows.at[i]);
    for (size_t i = 0; i < parameters->changes.count; i++)
        xfree(parameters->changes.at[i].before);
    array_fini(&parameters->rows);
    array_fini(&parameters->changes);
}

bool parameters_set(struct parameters *parameters, const struct parameter *rows, size_t count) {
    parameters_fini(parameters);
    for (size_t i = 0; i < count; i++)
        if (!add_row(parameters, &rows[i])) {
            parameters_fini(parameters);
            return false;
        }
    return true;
}

static bool is_inside(const struct parameter *p, double value) {
    return (!p->has_min || value >= p->min) && (!p->has_max || value <= p->max);
}

/* The power of two at or below an eighth: what lies on such multiples stays there. */
static int64_t step_of(int64_t value) {
    int64_t size = value < 0 ? -value : value, step = 1;
    while (step <= size / 16)
        step *= 2;
    return step;
}

static bool next_integer(const struct parameter *p, enum parameter_step step, bool up,
                         char out[PARAMETER_VALUE]) {
    char *end;
    int64_t value = strtoll(p->value, &end, 10), next = value;
    if (end == p->value || *end != '\0' || value > INT64_MAX / 4 || value < INT64_MIN / 4)
        return false;
    if (step == PARAMETER_TWICE)
        next = up ? value * 2 : value / 2;
    else
        next += (up ? 1 : -1) * (step == PARAMETER_ONE ? 1 : step_of(value));
    snprintf(out, PARAMETER_VALUE, "%" PRId64, next);
    return next != value && is_inside(p, (double)next);
}

static bool next_number(const struct parameter *p, enum parameter_step step, bool up,
                        char out[PARAMETER_VALUE]) {
    char *end;
    double value = strtod(p->value, &end), next;
    if (end == p->value || *end != '\0' || !isfinite(value))
        return false;
    if (step == PARAMETER_TWICE)
        next = up ? value * 2 : value / 2;
    else
        next = value + (up ? 0.05 : -0.05);
    next =
        (double)(int64_t)(next * 1e6 + (next < 0 ? -0.5 : 0.5)) / 1e6; /* no 0.30000000000000004 */
    snprintf(out, PARAMETER_VALUE, "%.10g", next);
    return strcmp(out, p->value) != 0 && is_inside(p, next);
}

/* The neighbour in "a|b|c"; there is none beyond the ends. */
static bool next_choice(const struct parameter *p, bool up, char out[PARAMETER_VALUE]) {
    const char *before = NULL;
    for (const char *at = p->choices; *at; at += strcspn(at, "|"), at += *at == '|') {
        size_t length = strcspn(at, "|");
        if (strlen(p->value) == length && strncmp(at, p->value, length) == 0) {
            const char *to = up ? (at[length] == '|' ? at + length + 1 : NULL) : before;
            if (to)
                snprintf(out, PARAMETER_VALUE, "%.*s", (int)strcspn(to, "|"), to);
            return to != NULL;
        }
        before = at;
    }
    return false;
}

bool parameter_next(const struct parameter *p, enum parameter_step step, bool up,
                    char out[PARAMETER_VALUE]) {
    switch (p->kind) {
    case PARAMETER_INTEGER:
        return next_integer(p, step, up, out);
    case PARAMETER_NUMBER:
        return next_number(p, step, up, out);
    case PARAMETER_BOOLEAN:
        snprintf(out, PARAMETER_VALUE, "%s", strcmp(p->value, "true") == 0 ? "false" : "true");
        return true;
    case PARAMETER_CHOICE:
        return next_choice(p, up, out);
    case PARAMETER_TEXT:
        break;
    }
    return false;
}

/* Puts a text in the place of a row's value; the old one is the caller's. */
static char *exchange(struct parameter *row, char *value) {
    union {
        const char *seen;
        char *own;
    } as = {row->value};
    row->value = value;
    return as.own;
}

bool parameters_change(struct parameters *parameters, size_t row, const char *value) {
    struct parameter_change change = {row, xstrdup(value)};
    if (!change.before || !array_push(&parameters->changes, change)) {
        xfree(change.before);
        return false;
    }
    struct parameter_change *kept = array_last(&parameters->changes);
    kept->before = exchange(array_at(&parameters->rows, row), kept->before);
    return true;
}

bool parameters_undo(struct parameters *parameters, size_t *row) {
    if (parameters->changes.count == 0)
        return false;
    struct parameter_change change = array_pop(&parameters->changes);
    *row = change.row;
    xfree(exchange(array_at(&parameters->rows, change.row), change.before));
    return true;
}

bool parameter_is_usual(const struct parameter *parameter) {
    return strcmp(parameter->value, parameter->usual) == 0;
}

void parameter_range(const struct parameter *p, char out[PARAMETER_VALUE]) {
    size_t length = 0;
    out[0] = '\0';
    if (p->kind == PARAMETER_BOOLEAN)
        snprintf(out, PARAMETER_VALUE, "true | false");
    for (const char *at = p->choices; *at && length + 4 < PARAMETER_VALUE; at++) {
        bool bar = *at == '|';
        length += (size_t)snprintf(out + length, PARAMETER_VALUE - length, bar ? " | " : "%c", *at);
    }
    if (p->has_min && p->has_max)
        snprintf(out, PARAMETER_VALUE, "%.10g .. %.10g", p->min, p->max);
    else if (p->has_min)
        snprintf(out, PARAMETER_VALUE, ">= %.10g", p->min);
    else if (p->has_max)
        snprintf(out, PARAMETER_VALUE, "<= %.10g", p->max);
}
