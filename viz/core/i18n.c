/* i18n.c: see i18n.h. */
#include "i18n.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *english, *chinese;
} texts[TEXT_COUNT] = {
#define X(id, english, chinese) {english, chinese},
    TEXTS(X)
#undef X
};

const char *i18n_text(enum language language, enum text_id id) {
    return language == LANGUAGE_CHINESE ? texts[id].chinese : texts[id].english;
}

const char *i18n_category(enum language language, enum category category) {
    return language == LANGUAGE_CHINESE ? category_chinese(category) : category_english(category);
}

const char *i18n_name(enum language language, const char *name, char out[I18N_NAME_BYTES]) {
    static const char *const names[][2] = {
        {"forward", "前向"},       {"backward", "反向"}, {"optimizer", "优化器"},
        {"zero_grad", "梯度清零"}, {"loss", "损失"},     {"simulation", "模拟"},
    };
    if (language != LANGUAGE_CHINESE)
        return name;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    size_t digits = strncmp(name, "step ", 5) == 0 ? strspn(name + 5, "0123456789") : 0;
    if (digits == 0 || digits > 10 || name[5 + digits] != '\0')
        return name;
    snprintf(out, I18N_NAME_BYTES, "第 %.10s 步", name + 5);
    return out;
}

enum language i18n_language(const char *name) {
    return name && name[0] == 'z' && name[1] == 'h' ? LANGUAGE_CHINESE : LANGUAGE_ENGLISH;
}
