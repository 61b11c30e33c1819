local m = use "no_such_file"
