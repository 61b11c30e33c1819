parameters { { "batch", print, "samples" } }
