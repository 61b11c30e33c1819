local m = use "parts/nothing"
