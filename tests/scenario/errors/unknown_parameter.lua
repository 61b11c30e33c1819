-- set: widht=5
parameters { { "width", 4, "width" }, { "depth", 2, "depth" } }
