local m = use "../names/example"
