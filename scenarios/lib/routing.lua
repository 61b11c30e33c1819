-- routing.lua: which experts get tokens, drawn from a distribution in place of the values that decide it in a real run.
local routing = {}

routing.rows = use("rows").list {
  { "routing", "given", "mixtures: how tokens choose experts: experts_used as given, or drawn: even, skewed (the n-th expert as 1 / n)",
    one_of = { "given", "even", "skewed" } },
  { "routing_seed", 1, "mixtures: of the draws", min = 0 },
}

-- The same numbers on every machine: Lehmer's generator with 48271 (Park and Miller, 1993).
local function generator(seed)
  local state = seed % 2147483646 + 1
  return function()
    state = state * 48271 % 2147483647
    return state / 2147483647
  end
end

-- Experts that at least one of `tokens` tokens chooses, each token `per_token` of `experts` different ones. An expert's share of
-- the tokens is per_token times its weight, one at most; it stays without with (1 - share) ^ tokens.
local function draw(random, kind, experts, per_token, tokens)
  local sum = 0
  for n = 1, experts do
    sum = sum + (kind == "skewed" and 1 / n or 1)
  end
  local used = 0
  for n = 1, experts do
    local share = math.min(1, per_token * (kind == "skewed" and 1 / n or 1) / sum)
    if random() >= (1 - share) ^ tokens then
      used = used + 1
    end
  end
  return math.max(used, math.min(per_token, experts))
end

-- used(tokens): how many experts a layer of the config sends tokens to, at each call anew
function routing.chooser(config)
  local kind = config.routing or "given"
  if kind == "given" then
    return function()
      return config.experts_used
    end
  end
  config.routing_random = config.routing_random or generator(config.routing_seed or 1)
  return function(tokens)
    return draw(config.routing_random, kind, config.experts, config.experts_per_token, tokens)
  end
end

return routing
