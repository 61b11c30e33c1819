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

-- Tokens of each expert: all of them, none with more than there are, the same at each run; drawn again where the values are
-- the same.
local function counted(config, tokens)
  local counts, total = routing.counter(config)(tokens), 0
  for n = 1, config.experts do
    total = total + (counts[n] or 0)
    assert(not counts[n] or (counts[n] >= 0 and counts[n] <= tokens))
  end
  assert(total == tokens * config.experts_per_token or total == 0)
  return table.concat(counts, ",")
end
for _, kind in ipairs { "even", "skewed" } do
  for _, tokens in ipairs { 1, 3, 64, 65, 5000 } do
    local config = { routing = kind, routing_seed = 5, experts = 8, experts_per_token = 3 }
    local saved = routing.save()
    local first = counted(config, tokens)
    assert(first == counted({ routing = kind, routing_seed = 5, experts = 8, experts_per_token = 3 }, tokens))
    saved = routing.save()
    local second = counted(config, tokens)
    assert(tokens == 1 or second ~= first)
    routing.restore(saved)
    assert(counted(config, tokens) == second)
  end
end
assert(counted({ experts = 4, experts_per_token = 2 }, 3) == "2,2,1,1")
assert(counted({ experts = 4, experts_per_token = 2, experts_used = 2 }, 3) == "3,3")
assert(counted({ experts = 4, experts_per_token = 2, experts_used = 0 }, 3) == "")
local given = { experts = 3, experts_per_token = 1, expert_tokens = { 0, 2, 2, 4, 0, 0 } }
local counter = routing.counter(given)
assert(table.concat(counter(4), ",") == "0,2,2" and table.concat(counter(4), ",") == "4,0,0")
assert(table.concat(counter(4), ",") == "0,2,2" and routing.chooser(given)(4) == 1)
