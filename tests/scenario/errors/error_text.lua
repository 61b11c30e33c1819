error("what went wrong")
