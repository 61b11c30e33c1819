/* viz_fixture.h: hand-made timelines for the viewer's tests.
 *
 *   fixture_random   seeded allocations and frees of all categories, for properties
 *   fixture_step     something that looks like training: parameters, then steps of forward,
 * backward, optimizer fixture_empty    no event, or one */
#ifndef VIZ_FIXTURE_H
#define VIZ_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "timeline.h"

struct fixture {
    struct timeline *tl;
    uint64_t time_ns, live_bytes, reserved_bytes;
    uint64_t random;
    uint32_t phase;
};

/* Out of memory in a test's own data is not what is tested. */
static inline void fixture_need(bool good) {
    if (!good) {
        fprintf(stderr, "fixture: out of memory\n");
        abort();
    }
}

static inline uint64_t fixture_random_below(struct fixture *f, uint64_t limit) {
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return limit > 0 ? (f->random >> 33) % limit : 0;
}

static inline struct fixture fixture_start(const char *title) {
    struct fixture f = {.tl = timeline_create(), .random = 7, .phase = TIMELINE_NONE};
    fixture_need(f.tl != NULL);
    f.tl->title = timeline_string(f.tl, title);
    f.tl->has = TIMELINE_HAS_TIME | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_REQUESTED |
                TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_STREAM | TIMELINE_HAS_CATEGORY |
                TIMELINE_HAS_OWNER | TIMELINE_HAS_PHASE | TIMELINE_HAS_HISTORY;
    return f;
}

static inline void fixture_device(struct fixture *f, const char *name, uint64_t total,
                                  uint64_t context) {
    struct timeline_device d = {timeline_string(f->tl, name), total, context};
    fixture_need(array_push(&f->tl->devices, d));
    f->tl->has |= TIMELINE_HAS_DEVICE;
}

static inline uint32_t fixture_event(struct fixture *f, enum event_kind kind, uint32_t ref,
                                     uint64_t bytes) {
    struct timeline_event e = {
        .time_ns = f->time_ns, .bytes = bytes, .ref = ref, .kind = (uint8_t)kind};
    uint32_t index = timeline_add_event(f->tl, &e);
    fixture_need(index != TIMELINE_NONE);
    return index;
}

static inline void fixture_segment(struct fixture *f, uint64_t bytes) {
    struct timeline_segment s = {
        .bytes = bytes, .alloc_event = (uint32_t)f->tl->events.count, .free_event = TIMELINE_NONE};
    uint32_t index = timeline_add_segment(f->tl, &s);
    fixture_need(index != TIMELINE_NONE);
    fixture_event(f, EVENT_SEGMENT_ALLOC, index, bytes);
    f->reserved_bytes += bytes;
}

/* Takes a segment first when the reserved bytes do not suffice. */
static inline uint32_t fixture_alloc(struct fixture *f, uint64_t bytes, enum category category,
                                     const char *owner, const char *op) {
    if (f->live_bytes + bytes > f->reserved_bytes)
        fixture_segment(f, (bytes + (20u << 20) - 1) / (20u << 20) * (20u << 20));
    f->live_bytes += bytes;
    struct timeline_block b = {.requested_bytes = bytes,
                               .block_bytes = bytes,
                               .alloc_event = (uint32_t)f->tl->events.count,
                               .free_event = TIMELINE_NONE,
                               .complete_event = TIMELINE_NONE,
                               .segment = TIMELINE_NONE,
                               .phase = f->phase,
                               .category = (uint8_t)category,
                               .dtype = DTYPE_BFLOAT16,
                               .owner = timeline_string(f->tl, owner),
                               .op = timeline_string(f->tl, op)};
    uint32_t index = timeline_add_block(f->tl, &b);
    fixture_need(index != TIMELINE_NONE);
    fixture_event(f, EVENT_ALLOC, index, bytes);
    return index;
}

static inline void fixture_free(struct fixture *f, uint32_t block) {
    struct timeline_block *b = &f->tl->blocks.at[block];
    f->live_bytes -= b->block_bytes;
    b->free_event = fixture_event(f, EVENT_FREE_REQUESTED, block, b->requested_bytes);
    f->tl->blocks.at[block].complete_event =
        fixture_event(f, EVENT_FREE_COMPLETED, block, b->requested_bytes);
}

static inline uint32_t fixture_begin(struct fixture *f, const char *name) {
    uint16_t depth =
        f->phase == TIMELINE_NONE ? 0 : (uint16_t)(f->tl->phases.at[f->phase].depth + 1);
    struct timeline_phase p = {.name = timeline_string(f->tl, name),
                               .begin_event = (uint32_t)f->tl->events.count,
                               .end_event = TIMELINE_NONE,
                               .parent = f->phase,
                               .depth = depth};
    uint32_t index = timeline_add_phase(f->tl, &p);
    fixture_need(index != TIMELINE_NONE);
    fixture_event(f, EVENT_PHASE_BEGIN, index, 0);
    f->phase = index;
    return index;
}

static inline void fixture_end(struct fixture *f) {
    struct timeline_phase *p = &f->tl->phases.at[f->phase];
    p->end_event = fixture_event(f, EVENT_PHASE_END, f->phase, 0);
    f->phase = f->tl->phases.at[f->phase].parent;
}

/* `events` or a few more, about `live` blocks alive at a time. */
static inline struct timeline *fixture_random(uint64_t seed, uint32_t events, uint32_t live) {
    struct fixture f = fixture_start("random");
    f.random = seed;
    uint32_t *alive = malloc(((size_t)live + 1) * sizeof *alive), count = 0;
    fixture_need(alive != NULL);
    static const char *const owners[] = {"model.layers.0.mlp", "model.layers.17.mlp", "model.embed",
                                         "", "lm_head"};
    while (f.tl->events.count < events) {
        f.time_ns += fixture_random_below(&f, 3000);
        bool take = count == 0 || (count < live && fixture_random_below(&f, 100) < 54);
        if (take) {
            /* one draw a statement: the order of arguments is the compiler's */
            uint64_t size = UINT64_C(1) << fixture_random_below(&f, 18);
            uint64_t bytes = 512 * (1 + fixture_random_below(&f, size));
            uint64_t category = fixture_random_below(&f, CATEGORY_COUNT);
            const char *owner = owners[fixture_random_below(&f, 5)];
            alive[count++] = fixture_alloc(&f, bytes, (enum category)category, owner, "aten::mm");
        } else {
            uint32_t at = fixture_random_below(&f, 100) < 70
                              ? count - 1
                              : (uint32_t)fixture_random_below(&f, count);
            fixture_free(&f, alive[at]);
            alive[at] = alive[--count];
        }
    }
    free(alive);
    return f.tl;
}

struct fixture_model {
    uint32_t layers, steps;
    uint64_t hidden, inner, vocab, tokens; /* two bytes an element */
    bool recompute;                        /* fewer activations: something to compare with */
};

static inline void fixture_wait(struct fixture *f, uint64_t ns) {
    f->time_ns += ns;
}

/* Weight, and what it needs later, per linear layer. */
struct fixture_linear {
    const char *name;
    uint64_t in, out;
};

static inline struct timeline *fixture_step(const struct fixture_model *m, const char *title) {
    struct fixture f = fixture_start(title);
    fixture_device(&f, "NVIDIA A100-SXM4-80GB", UINT64_C(85097971712), UINT64_C(540000000));
    f.tl->framework = timeline_string(f.tl, "pytorch-2.15");
    f.tl->source_kind = timeline_string(f.tl, "simulation");
    const struct fixture_linear linears[] = {
        {"self_attn.q_proj", m->hidden, m->hidden}, {"self_attn.k_proj", m->hidden, m->hidden},
        {"self_attn.v_proj", m->hidden, m->hidden}, {"self_attn.o_proj", m->hidden, m->hidden},
        {"mlp.gate_proj", m->hidden, m->inner},     {"mlp.up_proj", m->hidden, m->inner},
        {"mlp.down_proj", m->inner, m->hidden},
    };
    enum { LINEARS = 7 };
    uint32_t weights = m->layers * LINEARS + 2;
    uint32_t *grads = calloc(weights, sizeof *grads),
             *saved = calloc((size_t)m->layers * 8, sizeof *saved);
    fixture_need(grads && saved);
    char owner[96];
#define FIXTURE_OWNER(layer, part)                                                                 \
    (snprintf(owner, sizeof owner, "model.layers.%u.%s", layer, part), owner)
#define FIXTURE_WEIGHT(i)                                                                          \
    ((i) == 0 || (i) == weights - 1                                                                \
         ? m->vocab * m->hidden * 2                                                                \
         : linears[((i)-1) % LINEARS].in * linears[((i)-1) % LINEARS].out * 2)
#define FIXTURE_NAME(i)                                                                            \
    ((i) == 0             ? "model.embed_tokens"                                                   \
     : (i) == weights - 1 ? "lm_head"                                                              \
                          : FIXTURE_OWNER(((i)-1) / LINEARS, linears[((i)-1) % LINEARS].name))
    fixture_begin(&f, "init");
    for (uint32_t i = 0; i < weights; i++) {
        fixture_alloc(&f, FIXTURE_WEIGHT(i), CATEGORY_PARAMETER, FIXTURE_NAME(i), "aten::empty");
        fixture_wait(&f, 60000);
    }
    fixture_end(&f);
    uint64_t activation = m->tokens * m->hidden * 2, inner = m->tokens * m->inner * 2;
    uint64_t logits = m->tokens * m->vocab * 4;
    for (uint32_t step = 1; step <= m->steps; step++) {
        snprintf(owner, sizeof owner, "step %u", step);
        fixture_begin(&f, owner);
        fixture_begin(&f, "forward");
        uint32_t input = fixture_alloc(&f, m->tokens * 8, CATEGORY_INPUT, "batch", "aten::to");
        for (uint32_t l = 0; l < m->layers; l++) {
            for (int k = 0; k < 8; k++) {
                bool keep = !m->recompute || k == 0;
                uint64_t bytes = k < 5 ? activation : inner;
                const char *part = k < 4   ? linears[k].name
                                   : k < 5 ? "input_layernorm"
                                           : linears[k < 7 ? k - 1 : 6].name;
                saved[l * 8 + (uint32_t)k] = fixture_alloc(&f, bytes, CATEGORY_ACTIVATION,
                                                           FIXTURE_OWNER(l, part), "aten::mm");
                uint32_t temporary = fixture_alloc(&f, activation / 2, CATEGORY_TEMPORARY,
                                                   FIXTURE_OWNER(l, part), "aten::mul");
                fixture_wait(&f, 45000);
                fixture_free(&f, temporary);
                if (!keep)
                    fixture_free(&f, saved[l * 8 + (uint32_t)k]);
                fixture_wait(&f, 15000);
            }
        }
        uint32_t out = fixture_alloc(&f, logits, CATEGORY_ACTIVATION, "lm_head", "aten::mm");
        fixture_wait(&f, 900000);
        uint32_t loss = fixture_alloc(&f, logits, CATEGORY_TEMPORARY, "loss", "aten::_log_softmax");
        fixture_wait(&f, 700000);
        fixture_end(&f);
        fixture_begin(&f, "backward");
        uint32_t workspace = fixture_alloc(&f, 8519680, CATEGORY_WORKSPACE, "", "cublas");
        uint32_t flow =
            fixture_alloc(&f, logits, CATEGORY_TEMPORARY, "lm_head", "LogSoftmaxBackward0");
        fixture_wait(&f, 800000);
        fixture_free(&f, loss);
        fixture_free(&f, out);
        grads[weights - 1] = fixture_alloc(&f, FIXTURE_WEIGHT(weights - 1), CATEGORY_GRADIENT,
                                           "lm_head", "MmBackward0");
        fixture_free(&f, flow);
        for (uint32_t l = m->layers; l-- > 0;) {
            for (int k = 7; k >= 0; k--) {
                uint32_t index = l * 8 + (uint32_t)k;
                if (m->recompute && k > 0)
                    saved[index] =
                        fixture_alloc(&f, k < 5 ? activation : inner, CATEGORY_ACTIVATION,
                                      FIXTURE_OWNER(l, linears[k < 7 ? k : 6].name), "aten::mm");
                uint32_t temporary =
                    fixture_alloc(&f, k < 5 ? activation : inner, CATEGORY_TEMPORARY,
                                  FIXTURE_OWNER(l, "mlp"), "MulBackward0");
                if (k > 0) {
                    uint32_t w = 1 + l * LINEARS + (uint32_t)k - 1;
                    grads[w] = fixture_alloc(&f, FIXTURE_WEIGHT(w), CATEGORY_GRADIENT,
                                             FIXTURE_NAME(w), "MmBackward0");
                }
                fixture_wait(&f, 110000);
                fixture_free(&f, temporary);
                fixture_free(&f, saved[index]);
            }
        }
        grads[0] = fixture_alloc(&f, FIXTURE_WEIGHT(0), CATEGORY_GRADIENT, "model.embed_tokens",
                                 "EmbeddingBackward0");
        fixture_free(&f, workspace);
        fixture_end(&f);
        fixture_begin(&f, "optimizer");
        if (step == 1)
            for (uint32_t i = 0; i < 2 * weights; i++) {
                fixture_alloc(&f, FIXTURE_WEIGHT(i / 2), CATEGORY_OPTIMIZER, FIXTURE_NAME(i / 2),
                              "aten::zeros_like");
                fixture_wait(&f, 20000);
            }
        uint64_t all = 0;
        for (uint32_t i = 0; i < weights; i++)
            all += FIXTURE_WEIGHT(i);
        uint32_t copy = fixture_alloc(&f, all, CATEGORY_TEMPORARY, "AdamW", "aten::_foreach_sqrt");
        fixture_wait(&f, 6000000);
        fixture_free(&f, copy);
        fixture_end(&f);
        fixture_begin(&f, "zero_grad");
        for (uint32_t i = 0; i < weights; i++)
            fixture_free(&f, grads[i]);
        fixture_free(&f, input);
        fixture_wait(&f, 400000);
        fixture_end(&f);
        fixture_end(&f);
    }
#undef FIXTURE_NAME
#undef FIXTURE_WEIGHT
#undef FIXTURE_OWNER
    free(grads);
    free(saved);
    return f.tl;
}

static inline struct timeline *fixture_llama(const char *title, bool recompute) {
    struct fixture_model m = {.layers = 32,
                              .steps = 2,
                              .hidden = 4096,
                              .inner = 11008,
                              .vocab = 32000,
                              .tokens = 2048,
                              .recompute = recompute};
    return fixture_step(&m, title);
}

#endif
