/* x_resources.c: see x_resources.h. */
#include "x_resources.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_DPI = 96 };

int x_resources_scale_percent(const char *resources) {
    static const char name[] = "Xft.dpi:";
    for (const char *line = resources; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, name, sizeof name - 1) != 0)
            continue;
        double dpi = strtod(line + sizeof name - 1, NULL);
        if (dpi >= USUAL_DPI / 2.0 && dpi <= USUAL_DPI * 4.0)
            return (int)(dpi * 100 / USUAL_DPI + 0.5);
    }
    return 0;
}
