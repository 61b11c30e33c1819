/* test_ops_table.c: docs/ops.md is the table of ops. VRAMSIM_REGOLD=1 writes it. */
#include "suite.h"

#include "golden.h"
#include "op.h"
#include "text.h"

static const char *autocast_text(enum autocast_policy policy) {
    switch (policy) {
    case AUTOCAST_NONE:
        return "";
    case AUTOCAST_LOW:
        return "16-bit";
    case AUTOCAST_FP32:
        return "fp32";
    case AUTOCAST_FP32_DTYPE:
        return "fp32 unless given a type";
    }
    return "";
}

/* A bar would end a column. */
static void add_cell(struct text *out, const char *text) {
    for (; *text; text++)
        text_add_bytes(out, *text == '|' ? "\\|" : text, *text == '|' ? 2 : 1);
}

TEST(the_documents_table_of_ops_is_the_programs) {
    USE_STATE;
    struct text out = {0};
    text_add(&out, "# Ops\n\n"
                   "`torch.NAME(...)`, and `x:NAME(...)` when the first argument is a tensor. "
                   "Arguments go by position, or by\n"
                   "name in a last table: `x:sum({ dim = -1, keepdim = true })`. After the colon: "
                   "T tensor, X tensor or number,\n"
                   "L list of tensors, i integer, f number, b boolean, d type, s text, I sizes (a "
                   "table, or all remaining\n"
                   "integers); `?` may be left out, `=` has this default. Dims count from 0, or "
                   "from the end when negative.\n"
                   "Autocast: the type that an autocast region casts to.\n\n"
                   "This table is written from the program (tests/unit/test_ops_table.c).\n\n"
                   "| op | arguments | | autocast |\n|---|---|---|---|\n");
    for (size_t i = 0; op_row(i); i++) {
        const struct op *op = op_row(i);
        text_format(&out, "| `%s` | ", op->name);
        text_format(&out, *op->signature ? "`%s` | " : "%s| ", op->signature);
        add_cell(&out, op->doc);
        text_format(&out, " | %s |\n", autocast_text(op->autocast));
    }
    assert_false(out.failed);
    assert_golden(text_get(&out), "docs/ops.md");
    text_fini(&out);
}

SUITE(cmocka_unit_test(the_documents_table_of_ops_is_the_programs))
