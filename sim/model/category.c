/* category.c: see category.h. */
#include "category.h"

#include <string.h>

static const struct {
    const char *key, *english, *chinese;
} categories[CATEGORY_COUNT] = {
#define X(id, key, english, chinese) {key, english, chinese},
    CATEGORIES(X)
#undef X
};

const char *category_key(enum category category) {
    return categories[category].key;
}

const char *category_english(enum category category) {
    return categories[category].english;
}

const char *category_chinese(enum category category) {
    return categories[category].chinese;
}

enum category category_find(const char *key) {
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (strcmp(key, categories[i].key) == 0)
            return (enum category)i;
    return CATEGORY_UNKNOWN;
}
