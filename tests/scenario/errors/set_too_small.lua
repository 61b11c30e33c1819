-- set: batch=-1
parameters { { "batch", 1, "samples", min = 1 } }
