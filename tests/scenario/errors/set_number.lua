-- set: clip=much
parameters { { "clip", 0.5, "norm" } }
