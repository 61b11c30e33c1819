local m = use "parts/with_syntax_error"
