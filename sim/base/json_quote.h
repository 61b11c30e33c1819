/* json_quote.h: a text as a JSON string, quotes included. */
#ifndef JSON_QUOTE_H
#define JSON_QUOTE_H

struct text;

/* UTF-8; bytes that are not become U+FFFD, control characters escapes. */
void json_quote(struct text *out, const char *value);

#endif
