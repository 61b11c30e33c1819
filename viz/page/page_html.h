/* page_html.h: page.html, made an array when this is built. */
#ifndef PAGE_HTML_H
#define PAGE_HTML_H

extern const char page_html[]; /* ends with a zero */

#endif
