/* pickle_memo.c: values that the file gives a number, to name them again. */
#include <string.h>

#include "pickle_machine.h"
#include "pickle_runs.h"

/* The index is the file's; since it may not exceed the number of opcodes read, the table stays
 * linear in the file. */
bool pickle_memo_put(struct pickle *p, uint64_t index) {
    if (!pickle_need(p, 1))
        return false;
    if (index > p->opcode_count)
        return pickle_fail(p, ERROR_BAD_INPUT, "memo index %llu after %llu opcodes",
                           (unsigned long long)index, (unsigned long long)p->opcode_count);
    if (index >= p->memo.count) {
        size_t count = (size_t)index + 1;
        if (!PICKLE_RESERVE(p, &p->memo, count))
            return false;
        memset(p->memo.at + p->memo.count, 0, (count - p->memo.count) * sizeof *p->memo.at);
        p->memo.count = count;
    }
    const struct pickle_value old = p->memo.at[index], top = p->stack.at[p->stack.count - 1];
    p->memo_set += pickle_tag(old) == PICKLE_UNSET;
    if (pickle_tag(old) != PICKLE_UNSET && old.bits != top.bits)
        pickle_runs_fini(p);
    p->memo.at[index] = top;
    return true;
}

bool pickle_memo_get(struct pickle *p, uint64_t index) {
    if (index >= p->memo.count || pickle_tag(p->memo.at[index]) == PICKLE_UNSET)
        return pickle_fail(p, ERROR_BAD_INPUT, "memo index %llu was never set",
                           (unsigned long long)index);
    return pickle_push(p, p->memo.at[index]);
}
