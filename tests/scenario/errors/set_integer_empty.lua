-- set: width=
parameters { { "width", 4, "width" } }
