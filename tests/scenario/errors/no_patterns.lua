local s = ("aaa"):find("a")
