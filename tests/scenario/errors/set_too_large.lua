-- set: batch=65
parameters { { "batch", 1, "samples", min = 1, max = 64 } }
