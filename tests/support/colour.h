/* colour.h: how different two colours look, for tests of palettes.
 *
 *   ciede2000   CIE 142-2001 as Sharma, Wu and Dalal put it (Color Research and Application 30, 2005), on
 *               sRGB with the white of D65
 *   sight       sRGB as people with one kind of cone missing see it: Machado, Oliveira and Fernandes
 *               (IEEE TVCG 15, 2009), severity 1, on linear light */
#ifndef COLOUR_H
#define COLOUR_H

#include <math.h>
#include <stdint.h>

#define COLOUR_PI 3.14159265358979323846

struct lab {
    double l, a, b;
};

enum sight { SIGHT_NORMAL, SIGHT_PROTAN, SIGHT_DEUTAN, SIGHT_TRITAN, SIGHT_COUNT };

static inline double colour_linear(uint32_t part) {
    double v = part / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static inline double colour_f(double t) {
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static inline struct lab colour_lab(uint32_t color, enum sight sight) {
    static const double seen[SIGHT_COUNT][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},
        {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116,
         1.051998},
        {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
         0.968881},
        {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367,
         0.303900},
    };
    double in[3] = {colour_linear(color >> 16 & 255), colour_linear(color >> 8 & 255),
                    colour_linear(color & 255)};
    double c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = seen[sight][3 * i] * in[0] + seen[sight][3 * i + 1] * in[1] +
               seen[sight][3 * i + 2] * in[2];
        c[i] = c[i] < 0 ? 0 : c[i] > 1 ? 1 : c[i];
    }
    double x = (0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047;
    double y = 0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2];
    double z = (0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883;
    return (struct lab){116 * colour_f(y) - 16, 500 * (colour_f(x) - colour_f(y)),
                        200 * (colour_f(y) - colour_f(z))};
}

static inline double colour_hue(double b, double a) {
    double h = a == 0 && b == 0 ? 0 : atan2(b, a) * 180 / COLOUR_PI;
    return h < 0 ? h + 360 : h;
}

static inline double colour_cos(double degrees) {
    return cos(degrees * COLOUR_PI / 180);
}

static inline double ciede2000(struct lab p, struct lab q) {
    double mean = (hypot(p.a, p.b) + hypot(q.a, q.b)) / 2;
    double m7 = pow(mean, 7), g = 0.5 * (1 - sqrt(m7 / (m7 + pow(25, 7))));
    double a1 = p.a * (1 + g), a2 = q.a * (1 + g);
    double c1 = hypot(a1, p.b), c2 = hypot(a2, q.b);
    double h1 = colour_hue(p.b, a1), h2 = colour_hue(q.b, a2);
    double dh = c1 * c2 == 0 ? 0 : h2 - h1;
    dh = dh > 180 ? dh - 360 : dh < -180 ? dh + 360 : dh;
    double dl = q.l - p.l, dc = c2 - c1, big = 2 * sqrt(c1 * c2) * sin(dh / 2 * COLOUR_PI / 180);
    double l = (p.l + q.l) / 2, c = (c1 + c2) / 2, h = h1 + h2;
    if (c1 * c2 != 0)
        h = fabs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
    double t = 1 - 0.17 * colour_cos(h - 30) + 0.24 * colour_cos(2 * h) +
               0.32 * colour_cos(3 * h + 6) - 0.20 * colour_cos(4 * h - 63);
    double sl = 1 + 0.015 * (l - 50) * (l - 50) / sqrt(20 + (l - 50) * (l - 50));
    double sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t, c7 = pow(c, 7);
    double rt = -2 * sqrt(c7 / (c7 + pow(25, 7))) *
                sin(60 * exp(-pow((h - 275) / 25, 2)) * COLOUR_PI / 180);
    dl /= sl;
    dc /= sc;
    big /= sh;
    return sqrt(dl * dl + dc * dc + big * big + rt * dc * big);
}

#endif
