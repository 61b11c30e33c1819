-- set: widths=1,,2
parameters { { "widths", { 1, 2 }, "widths" } }
