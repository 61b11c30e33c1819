/* attr.h: the one place for compiler attributes; empty where they are unknown. */
#ifndef ATTR_H
#define ATTR_H

#if defined(__GNUC__)
#define ATTR_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))
#else
#define ATTR_PRINTF(format_index, first_index)
#endif

#endif
