local m = use "use_itself"
