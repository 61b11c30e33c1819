/* i18n.c: see i18n.h. */
#include "i18n.h"

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

enum language i18n_language(const char *name) {
    return name && name[0] == 'z' && name[1] == 'h' ? LANGUAGE_CHINESE : LANGUAGE_ENGLISH;
}
