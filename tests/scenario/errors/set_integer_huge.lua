-- set: width=99999999999999999999
parameters { { "width", 4, "width" } }
