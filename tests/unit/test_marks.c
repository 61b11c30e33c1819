/* test_marks.c: where marks are put. They are written | here. */
#include "suite.h"

#include <string.h>

#include "host.h"

static void check(const char *source, const char *expected) {
    struct text out = {0}, shown = {0};
    assert_true(marks_insert(source, strlen(source), &out));
    const char *p = text_get(&out);
    for (const char *at = strstr(p, ";__mark() "); at; at = strstr(p, ";__mark() ")) {
        text_add_bytes(&shown, p, (size_t)(at - p));
        text_add(&shown, "|");
        p = at + strlen(";__mark() ");
    }
    text_add(&shown, p);
    assert_string_equal(text_get(&shown), expected);
    text_fini(&out);
    text_fini(&shown);
}

#define CLAIM(name, source, expected)                                                              \
    TEST(name) {                                                                                   \
        USE_STATE;                                                                                 \
        check(source, expected);                                                                   \
    }

CLAIM(before_return, "local function f() return 1 end", "local function f() |return 1 end")
CLAIM(before_the_end_of_a_block_with_names, "do local x = f() end", "do local x = f() |end")
CLAIM(not_before_that_of_one_without, "do x = f() end", "do x = f() end")
CLAIM(not_before_a_functions_end, "function f() local x end", "function f() local x end")
CLAIM(each_branch_by_itself, "if a then local x elseif b then y() else local z end",
      "if a then local x |elseif b then y() else local z |end")
CLAIM(a_loops_variable_is_a_name, "for i = 1, 2 do f() end", "for i = 1, 2 do f() |end")
CLAIM(a_while_has_none, "while a do f() end", "while a do f() end")
CLAIM(before_until, "repeat local x = f() until x", "repeat local x = f() |until x")
CLAIM(once_after_return, "do local x return end", "do local x |return end")
CLAIM(before_break_and_goto, "while a do local x break end goto done",
      "while a do local x |break |end |goto done")
CLAIM(before_a_label_not_after, "for i = 1, 2 do goto next local x ::next:: end",
      "for i = 1, 2 do |goto next local x |::next:: end")
CLAIM(once_before_labels_in_a_row, "do local x ::a:: ::b:: ; end", "do local x |::a:: ::b:: ; end")
CLAIM(again_when_something_follows_a_label, "do local x ::a:: f() end",
      "do local x |::a:: f() |end")
CLAIM(a_loop_in_a_function_in_a_loops_head,
      "for _ in (function() do local x end return g end)() do f() end",
      "for _ in (function() do local x |end |return g end)() do f() |end")
CLAIM(not_in_strings,
      "do local x = \"end\" .. 'return \\' end' .. [[ end ]] .. [==[ ]] end ]==] end",
      "do local x = \"end\" .. 'return \\' end' .. [[ end ]] .. [==[ ]] end ]==] |end")
CLAIM(not_in_strings_over_lines, "do local x = \"a\\z\n end\" local y = \"b\\\n end\" end",
      "do local x = \"a\\z\n end\" local y = \"b\\\n end\" |end")
CLAIM(not_in_comments, "do local x -- end\n --[[ end ]] --[==[ end ]] ]==] end",
      "do local x -- end\n --[[ end ]] --[==[ end ]] ]==] |end")
CLAIM(an_index_is_no_long_string, "do local x = a[b[1]] end", "do local x = a[b[1]] |end")
CLAIM(names_that_begin_with_words, "do local ending, return_value, _end = 1 end",
      "do local ending, return_value, _end = 1 |end")
CLAIM(unbalanced_text_as_it_is, "end end until return", "end end until |return")
CLAIM(unfinished_text_as_it_is, "do local x = \"", "do local x = \"")

TEST(lines_stay_where_they_are) {
    USE_STATE;
    const char *source = "for i = 1, 2 do\n  local x = f()\n  if x then\n    return\n  end\nend\n";
    struct text out = {0};
    size_t lines = 0, marked = 0;
    assert_true(marks_insert(source, strlen(source), &out));
    for (const char *p = source; *p; p++)
        lines += *p == '\n';
    for (const char *p = text_get(&out); *p; p++)
        marked += *p == '\n';
    assert_int_equal(lines, marked);
    text_fini(&out);
}

SUITE(cmocka_unit_test(before_return), cmocka_unit_test(before_the_end_of_a_block_with_names),
      cmocka_unit_test(not_before_that_of_one_without),
      cmocka_unit_test(not_before_a_functions_end), cmocka_unit_test(each_branch_by_itself),
      cmocka_unit_test(a_loops_variable_is_a_name), cmocka_unit_test(a_while_has_none),
      cmocka_unit_test(before_until), cmocka_unit_test(once_after_return),
      cmocka_unit_test(before_break_and_goto), cmocka_unit_test(before_a_label_not_after),
      cmocka_unit_test(once_before_labels_in_a_row),
      cmocka_unit_test(again_when_something_follows_a_label),
      cmocka_unit_test(a_loop_in_a_function_in_a_loops_head), cmocka_unit_test(not_in_strings),
      cmocka_unit_test(not_in_strings_over_lines), cmocka_unit_test(not_in_comments),
      cmocka_unit_test(an_index_is_no_long_string), cmocka_unit_test(names_that_begin_with_words),
      cmocka_unit_test(unbalanced_text_as_it_is), cmocka_unit_test(unfinished_text_as_it_is),
      cmocka_unit_test(lines_stay_where_they_are))
