-- Experts drawn from a distribution: as many as expected on average, the same at each run, all when there are many tokens.
local routing = use "routing"
local function mean(kind, tokens, seed)
  local choose = routing.chooser { routing = kind, routing_seed = seed, experts = 64, experts_per_token = 4, experts_used = -1 }
  local sum = 0
  for _ = 1, 400 do
    local used = choose(tokens)
    assert(used >= 4 and used <= 64)
    sum = sum + used
  end
  return sum / 400
end
local even = 64 * (1 - (1 - 4 / 64) ^ 16) -- 41.2
assert(math.abs(mean("even", 16, 1) - even) < 1)
assert(mean("even", 16, 2) ~= mean("even", 16, 3))
assert(mean("even", 16, 2) == mean("even", 16, 2))
assert(mean("skewed", 16, 1) < even - 5)
assert(mean("even", 100000, 1) == 64)
assert(routing.chooser({ experts_used = 7 })(1) == 7)
torch.zeros({ 4 })
