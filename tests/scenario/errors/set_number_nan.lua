-- set: clip=nan
parameters { { "clip", 0.5, "norm", min = 0 } }
