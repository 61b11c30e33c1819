phase(3)
