begin_step("one")
