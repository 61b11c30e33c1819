parameters { { "widths", { 1, "two" }, "widths" } }
