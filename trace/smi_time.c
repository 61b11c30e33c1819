/* smi_time.c: see smi_time.h. */
#include "smi_time.h"

#define SECOND UINT64_C(1000000000)

struct scan {
    const char *at, *end;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* At least one digit, at most `most`. */
static bool take_number(struct scan *s, unsigned most, uint64_t *out) {
    unsigned count = 0;
    *out = 0;
    while (s->at < s->end && count < most && is_digit(*s->at)) {
        *out = *out * 10 + (unsigned)(*s->at++ - '0');
        count++;
    }
    return count > 0;
}

static bool take(struct scan *s, char a, char b) {
    if (s->at == s->end || (*s->at != a && *s->at != b))
        return false;
    s->at++;
    return true;
}

/* ".123": to nanoseconds; digits behind them count for nothing. */
static uint64_t take_fraction(struct scan *s) {
    uint64_t unit = SECOND / 10, ns = 0;
    if (!take(s, '.', ','))
        return 0;
    for (; s->at < s->end && is_digit(*s->at); s->at++, unit /= 10)
        ns += unit * (unsigned)(*s->at - '0');
    return ns;
}

/* Days from 1970-01-01: whole years of the calendar that begins in March, then its months. */
static uint64_t days_since_1970(uint64_t year, uint64_t month, uint64_t day) {
    year -= month <= 2;
    uint64_t era_year = year % 400, shifted = (month + 9) % 12;
    uint64_t day_of_year = (153 * shifted + 2) / 5 + day - 1;
    uint64_t day_of_era = era_year * 365 + era_year / 4 - era_year / 100 + day_of_year;
    return year / 400 * 146097 + day_of_era - 719468;
}

static bool parse_date(struct scan s, uint64_t *time_ns) {
    uint64_t year, month, day, hour, minute, second;
    if (!take_number(&s, 4, &year) || !take(&s, '/', '-') || !take_number(&s, 2, &month) ||
        !take(&s, '/', '-') || !take_number(&s, 2, &day) || !take(&s, ' ', 'T') ||
        !take_number(&s, 2, &hour) || !take(&s, ':', ':') || !take_number(&s, 2, &minute) ||
        !take(&s, ':', ':') || !take_number(&s, 2, &second))
        return false;
    if (year < 1970 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 ||
        minute > 59 || second > 60)
        return false;
    uint64_t seconds =
        days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *time_ns = seconds * SECOND + take_fraction(&s);
    return true;
}

bool smi_time_parse(const char *text, size_t length, uint64_t *time_ns) {
    struct scan s = {text, text + length};
    if (parse_date(s, time_ns))
        return true;
    uint64_t seconds;
    if (!take_number(&s, 10, &seconds))
        return false;
    *time_ns = seconds * SECOND + take_fraction(&s);
    return s.at == s.end;
}
