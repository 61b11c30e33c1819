/* test_backward.c: what autograd keeps and asks for, op by op, and the head and loss of language models. Sources of the
 * figures: derivatives.yaml of PyTorch 2.15; the peaks of head and loss were measured with it. */
#include "suite.h"

#include <unistd.h>

#include "scenario_run.h"

/* A run of a text, with figures at its phases: their names are marks. */
enum { MAX_MARKS = 16, X_BYTES = 1 << 24 };

struct mark {
    char name[24];
    uint64_t live_bytes, requests, large; /* requests so far; those of X_BYTES and more */
};

struct probe {
    struct scenario_case c;
    struct mark marks[MAX_MARKS];
    unsigned mark_count;
    uint64_t large, peak_since;
};

static bool probe_request(void *user, const struct tape_request *r, uint32_t *block) {
    struct probe *p = user;
    p->large += r->bytes >= X_BYTES;
    bool ok = log_sink_request(&p->c.sink, r, block);
    if (p->c.sink.live_bytes > p->peak_since)
        p->peak_since = p->c.sink.live_bytes;
    return ok;
}

static void probe_release(void *user, uint32_t block) {
    log_sink_release(&((struct probe *)user)->c.sink, block);
}

static void probe_label(void *user, uint32_t block, enum category category, const char *owner,
                        const char *name) {
    log_sink_label(&((struct probe *)user)->c.sink, block, category, owner, name);
}

static void probe_kernel(void *user, const struct tape_kernel *kernel) {
    log_sink_kernel(&((struct probe *)user)->c.sink, kernel);
}

static void probe_phase(void *user, const char *name, bool begin) {
    struct probe *p = user;
    if (!begin || p->mark_count == MAX_MARKS)
        return;
    struct mark *m = &p->marks[p->mark_count++];
    snprintf(m->name, sizeof m->name, "%s", name);
    m->live_bytes = p->c.sink.live_bytes;
    m->requests = p->c.sink.request_count;
    m->large = p->large;
    p->peak_since = p->c.sink.live_bytes;
}

static void probe_synchronize(void *user) {
    (void)user;
}

static void run_text(struct probe *p, const char *text) {
    char path[] = "/tmp/vramsim-backward-XXXXXX";
    int f = mkstemp(path);
    assert_true(f >= 0 && write(f, text, strlen(text)) == (ssize_t)strlen(text));
    close(f);
    memset(p, 0, sizeof *p);
    p->c.sink.quiet = true;
    struct tape_sink sink = log_sink_of(&p->c.sink);
    sink.user = p;
    sink.request = probe_request;
    sink.release = probe_release;
    sink.label = probe_label;
    sink.kernel = probe_kernel;
    sink.phase = probe_phase;
    sink.synchronize = probe_synchronize;
    struct scenario_options options = {.library_dir = SOURCE_DIR "/scenarios/lib"};
    assert_ok(device_parse("A100-80GB", &p->c.device, &p->c.error), p->c.error);
    assert_true(tape_init(&p->c.tape, &sink, framework_row(0), &p->c.device));
    bool ok = scenario_run(path, &options, &p->c.tape, &p->c.info, &p->c.error);
    unlink(path);
    assert_ok(ok, p->c.error);
    assert_false(p->c.sink.broken);
}

static const struct mark *mark_of(const struct probe *p, const char *name) {
    for (unsigned i = 0; i < p->mark_count; i++)
        if (strcmp(p->marks[i].name, name) == 0)
            return &p->marks[i];
    fail_msg("no phase %s", name);
    return NULL;
}

/* Bytes as multiples of `unit`, to the nearest: workspaces and scalars are small beside it. */
static unsigned in_units(uint64_t bytes, uint64_t unit) {
    return (unsigned)((bytes + unit / 2) / unit);
}

/* ---- what a node keeps ---- */

struct kept {
    const char *expression; /* of x, [2048, 2048] floats */
    unsigned after_input,
        after_output;  /* X that live when x is no name any more; when y is none either */
    unsigned backward; /* requests of X bytes in its backward */
};

/* after_input counts y, which may be a view of nothing new; base holds `a`. */
static const struct kept kept_rows[] = {
    {"torch.relu(x)", 1, 1, 1},
    {"torch.silu(x)", 2, 1, 1},
    {"torch.gelu(x)", 2, 1, 1},
    {"torch.tanh(x)", 1, 1, 1},
    {"torch.sigmoid(x)", 1, 1, 1},
    {"torch.exp(x)", 1, 1, 1},
    {"torch.sqrt(x)", 1, 1, 2},  /* grad / (2 * result) */
    {"torch.rsqrt(x)", 1, 1, 3}, /* -0.5 * grad * result.pow(3) */
    {"torch.sin(x)", 2, 1, 2},
    {"torch.cos(x)", 2, 1, 3},
    {"torch.neg(x)", 1, 0, 1},
    {"x:pow(2)", 2, 1, 3},
    {"x + 1", 1, 0, 0},
    {"x * 2.0", 1, 0, 1},
    {"x / 2.0", 1, 0, 1},
    {"x * x", 2, 1, 2}, /* one a side, added in place */
    {"torch.softmax(x, -1)", 1, 1, 2},
    {"torch.log_softmax(x, -1)", 1, 1, 2}, /* a copy of an expanded gradient */
    {"x:mean(-1)", 0, 0, 1},
    {"x:sum(-1)", 0, 0, 0},
    {"x:view(-1)", 1, 0, 0},
    {"x:transpose(0, 1)", 1, 0, 0},
    {"x:transpose(0, 1):contiguous()", 1, 0, 0},
    {"x:slice(1, 0, 2047)", 1, 0, 1},
    {"torch.cat({ x, x }, 0)", 2, 0, 1},
    {"torch.pad(x, { 0, 1 })", 1, 0, 1},
    {"x:to(torch.bfloat16):to(torch.float32)", 1, 0, 1},
};

TEST(a_node_keeps_what_its_formula_names) {
    USE_STATE;
    for (size_t i = 0; i < sizeof kept_rows / sizeof *kept_rows; i++) {
        const struct kept *k = &kept_rows[i];
        struct probe p;
        char text[1024];
        snprintf(text, sizeof text,
                 "local a = torch.zeros({ 2048, 2048 })\na.requires_grad = true\n"
                 "local x = a * 1.0\nphase 'start'\nlocal y = %s\nx = nil\nphase 'input'\n"
                 "local z = y:sum()\ny = nil\nphase 'output'\nz:backward()\nphase 'end'\n",
                 k->expression);
        run_text(&p, text);
        uint64_t base = X_BYTES; /* a */
        unsigned input = in_units(mark_of(&p, "input")->live_bytes - base, X_BYTES);
        unsigned output = in_units(mark_of(&p, "output")->live_bytes - base, X_BYTES);
        /* the gradient of a is one more, made by its own multiplication */
        unsigned backward =
            (unsigned)(mark_of(&p, "end")->large - mark_of(&p, "output")->large) - 1;
        if (input != k->after_input || output != k->after_output || backward != k->backward)
            print_message("%s: %u, %u, %u; expected %u, %u, %u\n", k->expression, input, output,
                          backward, k->after_input, k->after_output, k->backward);
        assert_true(input == k->after_input && output == k->after_output &&
                    backward == k->backward);
        assert_int_equal(in_units(mark_of(&p, "end")->live_bytes, X_BYTES),
                         2); /* a and its gradient */
        scenario_case_fini(&p.c);
    }
}

/* ---- linear ---- */

static uint64_t kept_by_linear(bool weight_grad, bool input_grad) {
    struct probe p;
    char text[1024];
    snprintf(text, sizeof text,
             "local a = torch.zeros({ 2048, 2048 })\na.requires_grad = %s\n"
             "local w = torch.zeros({ 8, 2048 })\nw.requires_grad = %s\n"
             "local x = a * 1.0\nlocal y = torch.linear(x, w)\nx = nil\nphase 'kept'\nprint(y)\n",
             input_grad ? "true" : "false", weight_grad ? "true" : "false");
    run_text(&p, text);
    uint64_t live = mark_of(&p, "kept")->live_bytes;
    scenario_case_fini(&p.c);
    return in_units(live, X_BYTES) - 1;
}

TEST(a_frozen_linear_drops_its_input) {
    USE_STATE;
    assert_int_equal(kept_by_linear(true, true), 1);
    assert_int_equal(kept_by_linear(true, false), 1);
    assert_int_equal(kept_by_linear(false, true), 0);
    assert_int_equal(kept_by_linear(false, false), 0);
}

/* ---- gradients of leaves ---- */

static struct probe leaf_run(const char *body) {
    struct probe p;
    char text[1024];
    snprintf(text, sizeof text, "local a = torch.zeros({ 2048, 2048 })\na.requires_grad = true\n%s",
             body);
    run_text(&p, text);
    return p;
}

static void check_backward(const char *body, unsigned requests, unsigned live) {
    struct probe p = leaf_run(body);
    unsigned made = (unsigned)(mark_of(&p, "end")->large - mark_of(&p, "backward")->large);
    unsigned left = in_units(mark_of(&p, "end")->live_bytes, X_BYTES);
    if (made != requests || left != live)
        print_message("%s\n%u requests, %u live; expected %u, %u\n", body, made, left, requests,
                      live);
    assert_true(made == requests && left == live);
    scenario_case_fini(&p.c);
}

TEST(a_gradient_is_stolen_when_nobody_shares_it) {
    USE_STATE;
    check_backward("local z = (a * 2.0):sum()\nphase 'backward'\nz:backward()\nphase 'end'\n", 1,
                   2);
}

TEST(a_shared_gradient_is_copied) { /* both leaves get the same expanded one */
    USE_STATE;
    check_backward("local b = torch.zeros({ 2048, 2048 })\nb.requires_grad = true\n"
                   "local z = (a + b):sum()\nphase 'backward'\nz:backward()\nphase 'end'\n",
                   2, 4);
}

TEST(a_second_gradient_is_added_in_place) {
    USE_STATE;
    check_backward("(a * 2.0):sum():backward()\nlocal z = (a * 2.0):sum()\n"
                   "phase 'backward'\nz:backward()\nphase 'end'\n",
                   1, 2);
}

TEST(two_gradients_are_added_in_place_where_they_meet) {
    USE_STATE;
    check_backward("local x = a * 1.0\nlocal z = (x * 2.0 + x * 3.0):sum()\nx = nil\n"
                   "phase 'backward'\nz:backward()\nphase 'end'\n",
                   3, 2);
}

TEST(a_gradient_that_is_a_view_is_not_added_to_in_place) {
    USE_STATE;
    check_backward(
        "local x = a * 1.0\nlocal z = (x * 2.0):sum() + (x:view(-1) * 3.0):sum()\nx = nil\n"
        "phase 'backward'\nz:backward()\nphase 'end'\n",
        4, 2);
}

TEST(a_repeated_operands_gradient_is_summed_to_its_shape) {
    USE_STATE;
    struct probe p =
        leaf_run("local w = torch.zeros({ 2048 })\nw.requires_grad = true\n"
                 "local z = (a:detach() * w):sum()\nphase 'backward'\nz:backward()\nphase 'end'\n"
                 "note(tostring(w.grad))\n");
    assert_string_equal(p.c.info.notes.at[0], "tensor [2048] float32");
    assert_int_equal(in_units(mark_of(&p, "end")->live_bytes, X_BYTES), 1);
    scenario_case_fini(&p.c);
}

TEST(an_embeddings_gradient_is_dense) {
    USE_STATE;
    struct probe p = leaf_run(
        "local i = torch.zeros({ 4, 8 }, torch.int64)\n"
        "local z = torch.embedding(a, i):sum()\nphase 'backward'\nz:backward()\nphase 'end'\n");
    assert_int_equal(in_units(mark_of(&p, "end")->live_bytes, X_BYTES), 2);
    scenario_case_fini(&p.c);
}

/* ---- reductions over rows: a buffer and semaphores while they run ---- */

static uint64_t reduction_peak(unsigned rows, unsigned columns) {
    struct probe p;
    char text[256];
    snprintf(text, sizeof text,
             "local x = torch.zeros({ %u, %u })\nphase 'sum'\nlocal y = x:sum(0)\n", rows, columns);
    run_text(&p, text);
    uint64_t peak = p.peak_since - mark_of(&p, "sum")->live_bytes - 4 * (uint64_t)columns;
    scenario_case_fini(&p.c);
    return peak;
}

TEST(a_sum_over_rows_asks_for_a_buffer) {
    USE_STATE;
    assert_bytes_equal(reduction_peak(4096, 1024), 33554432 + 32);
    assert_int_equal(reduction_peak(8192, 1024) >> 20, 64);
    assert_int_equal(reduction_peak(1024, 4096) >> 20, 32);
    assert_bytes_equal(reduction_peak(512, 1024), 0);
}

/* ---- head and loss, in N x V bytes beyond the weights ---- */

struct head {
    const char *name, *setting, *body;
    unsigned kept, peak;
};

#define LINEAR "torch.linear(x, w)"
static const struct head head_rows[] = {
    {"bf16 logits, freed", "bf16", "local loss = F.cross_entropy(" LINEAR ", y)", 2, 6},
    {"bf16 logits, held", "bf16",
     "local logits = " LINEAR "\nlocal loss = F.cross_entropy(logits, y)", 4, 8},
    {"float(), freed", "bf16", "local loss = F.cross_entropy(" LINEAR ":float(), y)", 4, 12},
    {"float(), logits held", "bf16",
     "local logits = " LINEAR "\nlocal loss = F.cross_entropy(logits:float(), y)", 6, 14},
    {"float(), a shifted copy, names held", "bf16",
     "local logits = torch.linear(x:view(2, -1, 8), w)\nlogits = logits:float()\n"
     "local shifted = logits:slice(1, 0, -1):contiguous()\n"
     "local loss = F.cross_entropy(shifted:view(-1, 1 << 10), y:slice(0, 2))",
     12, 20},
    {"fp32 logits, freed", "fp32", "local loss = F.cross_entropy(" LINEAR ", y)", 4, 12},
    {"bf16 autocast, freed", "fp32",
     "local loss = torch.autocast('bf16', function() return F.cross_entropy(" LINEAR ", y) end)", 6,
     10},
};

TEST(head_and_loss_peak_as_measured) {
    USE_STATE;
    for (size_t i = 0; i < sizeof head_rows / sizeof *head_rows; i++) {
        const struct head *h = &head_rows[i];
        const uint64_t unit = UINT64_C(1) << 32; /* N = 2^22 rows, V = 2^10 classes */
        struct probe p;
        char text[1024];
        snprintf(
            text, sizeof text,
            "local F = use 'functional'\nlocal x = torch.zeros({ 1 << 22, 8 }, "
            "'%s')\nx.requires_grad = true\n"
            "local w = torch.zeros({ 1 << 10, 8 }, '%s')\nw.requires_grad = true\n"
            "local y = torch.zeros({ 1 << 22 }, torch.int64)\nphase 'start'\n%s\nphase 'backward'\n"
            "loss:backward()\nphase 'end'\n",
            h->setting, h->setting, h->body);
        run_text(&p, text);
        uint64_t base = mark_of(&p, "start")->live_bytes;
        unsigned kept = in_units(mark_of(&p, "backward")->live_bytes - base, unit);
        unsigned peak = in_units(p.c.sink.peak_bytes - base, unit);
        if (kept != h->kept || peak != h->peak)
            print_message("%s: kept %u, peak %u; expected %u, %u\n", h->name, kept, peak, h->kept,
                          h->peak);
        assert_true(kept == h->kept && peak == h->peak);
        scenario_case_fini(&p.c);
    }
}

TEST(an_evaluation_holds_logits_and_their_logarithms) {
    USE_STATE;
    const uint64_t unit = UINT64_C(1) << 32;
    struct probe p;
    run_text(&p, "local F = use 'functional'\nlocal x = torch.zeros({ 1 << 22, 8 }, 'bf16')\n"
                 "local w = torch.zeros({ 1 << 10, 8 }, 'bf16')\nlocal y = torch.zeros({ 1 << 22 "
                 "}, torch.int64)\n"
                 "phase 'start'\ntorch.no_grad(function()\nlocal loss = "
                 "F.cross_entropy(torch.linear(x, w):float(), y)\n"
                 "end)\n");
    assert_int_equal(in_units(p.c.sink.peak_bytes - mark_of(&p, "start")->live_bytes, unit), 8);
    scenario_case_fini(&p.c);
}

/* ---- attention ---- */

TEST(flash_attention_keeps_out_lse_and_two_small_ones) {
    USE_STATE;
    struct probe p;
    run_text(&p, "local q = torch.zeros({ 2, 8, 512, 64 }, 'bf16')\nq.requires_grad = true\n"
                 "local k = torch.zeros({ 2, 8, 512, 64 }, 'bf16')\nlocal v = torch.zeros({ 2, 8, "
                 "512, 64 }, 'bf16')\n"
                 "phase 'start'\nlocal o = torch.scaled_dot_product_attention(q, k, v, { is_causal "
                 "= true })\n"
                 "phase 'kept'\n");
    uint64_t q = UINT64_C(2) * 8 * 512 * 64 * 2, lse = UINT64_C(4) * 2 * 8 * 512;
    assert_bytes_equal(mark_of(&p, "kept")->live_bytes - mark_of(&p, "start")->live_bytes,
                       q + lse + 16 + 8);
    scenario_case_fini(&p.c);
}

TEST(efficient_attention_rounds_lse_to_32_rows) {
    USE_STATE;
    struct probe p;
    run_text(
        &p, "local q = torch.zeros({ 2, 8, 100, 64 })\nq.requires_grad = true\n"
            "local k = torch.zeros({ 2, 8, 100, 64 })\nlocal v = torch.zeros({ 2, 8, 100, 64 })\n"
            "phase 'start'\nlocal o = torch.scaled_dot_product_attention(q, k, v)\nphase 'kept'\n");
    uint64_t q = UINT64_C(2) * 8 * 100 * 64 * 4, lse = UINT64_C(4) * 2 * 8 * 128;
    assert_bytes_equal(mark_of(&p, "kept")->live_bytes - mark_of(&p, "start")->live_bytes,
                       q + lse + 8 + 8);
    scenario_case_fini(&p.c);
}

SUITE(cmocka_unit_test(a_node_keeps_what_its_formula_names),
      cmocka_unit_test(a_frozen_linear_drops_its_input),
      cmocka_unit_test(a_gradient_is_stolen_when_nobody_shares_it),
      cmocka_unit_test(a_shared_gradient_is_copied),
      cmocka_unit_test(a_second_gradient_is_added_in_place),
      cmocka_unit_test(two_gradients_are_added_in_place_where_they_meet),
      cmocka_unit_test(a_gradient_that_is_a_view_is_not_added_to_in_place),
      cmocka_unit_test(a_repeated_operands_gradient_is_summed_to_its_shape),
      cmocka_unit_test(an_embeddings_gradient_is_dense),
      cmocka_unit_test(a_sum_over_rows_asks_for_a_buffer),
      cmocka_unit_test(head_and_loss_peak_as_measured),
      cmocka_unit_test(an_evaluation_holds_logits_and_their_logarithms),
      cmocka_unit_test(flash_attention_keeps_out_lse_and_two_small_ones),
      cmocka_unit_test(efficient_attention_rounds_lse_to_32_rows))
