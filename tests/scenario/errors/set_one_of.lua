-- set: dtype=fp8
parameters { { "dtype", "bf16", "type", one_of = { "fp32", "bf16" } } }
