-- set: bias=maybe
parameters { { "bias", true, "with bias" } }
