local m = use "parts/with_error"
