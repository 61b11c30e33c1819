local routing = use "routing"
routing.counter { experts = 4, experts_per_token = 2, expert_tokens = { 1, 2, 3, 4 } }(6)
