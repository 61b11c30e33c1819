/* smi_samples.h: samples of what is in use on devices, as a timeline, whatever log they stand in. Private to smi*.c.
 *
 * A sample is what all programs have of the device, their contexts included; what an allocator has of it is unknown. Until the
 * first sample of a device it is as that one says. */
#ifndef SMI_SAMPLES_H
#define SMI_SAMPLES_H

#include "emit.h"
#include "facts.h"

struct error;

enum { SMI_LABEL_BYTES = 64 };

struct smi_card {
    char label[SMI_LABEL_BYTES]; /* what the log calls it: an index, or another name */
    char name[SMI_LABEL_BYTES];
    uint64_t samples, first, last, least, peak, total; /* total 0: unknown */
    uint8_t ordinal;
};

struct smi_samples {
    struct emit emit;
    struct timeline *tl;
    struct error *err;
    ARRAY(struct smi_card) cards;
    uint64_t line; /* of the log */
    uint64_t taken, skipped;
    bool has_time;
};

struct smi_field {
    const char *at;
    size_t length;
};

/* False: host memory. smi_samples_fini() in any case. */
bool smi_samples_init(struct smi_samples *s, struct timeline *tl, struct error *err);
void smi_samples_fini(struct smi_samples *s);
/* A device is called by its index where the label is one, else numbered as it comes. False: too many, or host memory. */
bool smi_take(struct smi_samples *s, struct smi_field label, struct smi_field name,
              uint64_t time_ns, uint64_t used, uint64_t total);
/* A line that tells nothing, with a warning. */
void smi_skip(struct smi_samples *s, const char *why);
/* The timeline's devices and what it has; the figures. `form`: of the log. False: no sample (BAD_INPUT), or host memory. */
bool smi_finish(struct smi_samples *s, const char *form, struct trace_facts *facts);

#endif
