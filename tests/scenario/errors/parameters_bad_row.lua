parameters { { "batch", 1, "samples" }, 5 }
