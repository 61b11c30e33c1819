-- set: width=4x
parameters { { "width", 4, "width" } }
