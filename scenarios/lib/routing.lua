-- routing.lua: how many tokens each expert gets, drawn from a distribution or given as counts, in place of the values that
-- decide it in a real run.
local routing = {}

routing.rows = use("rows").list {
  { "experts_implementation", "grouped_mm", "mixtures: how a layer's experts run: one grouped product, a product a token, or a loop over those with tokens",
    one_of = { "grouped_mm", "batched_mm", "eager" } },
  { "experts_used", -1, "mixtures: experts that get tokens; -1 = all", min = -1 },
  { "routing", "given", "mixtures: how tokens choose experts: experts_used as given, or drawn: even, skewed (the n-th expert as 1 / n)",
    one_of = { "given", "even", "skewed" } },
  { "routing_seed", 1, "mixtures: of the draws", min = 0 },
  { "expert_tokens", {}, "mixtures: tokens of each expert, for one call of a layer after the other, and again from the first" },
}

-- The same numbers on every machine: Lehmer's generator with 48271 (Park and Miller, 1993).
local function generator(seed)
  return { state = seed % 2147483646 + 1 }
end
local function random(generated)
  generated.state = generated.state * 48271 % 2147483647
  return generated.state / 2147483647
end

local function weight(kind, n)
  return kind == "skewed" and 1 / n or 1
end

-- Experts that at least one of `tokens` tokens chooses, each token `per_token` of `experts` different ones. An expert's share of
-- the tokens is per_token times its weight, one at most; it stays without with (1 - share) ^ tokens.
local function draw_used(generated, kind, experts, per_token, tokens)
  local sum = 0
  for n = 1, experts do
    sum = sum + weight(kind, n)
  end
  local used = 0
  for n = 1, experts do
    local share = math.min(1, per_token * weight(kind, n) / sum)
    if random(generated) >= (1 - share) ^ tokens then
      used = used + 1
    end
  end
  return math.max(used, math.min(per_token, experts))
end

-- `total` tokens over `experts`, no expert with more than `tokens`: the first get one more.
local function evenly(experts, total, tokens)
  local counts = {}
  for n = 1, experts do
    counts[n] = math.min(tokens, total // experts + (n <= total % experts and 1 or 0))
  end
  return counts
end

-- Each token's choices one by one. The cost is tokens * per_token * experts.
local function draw_each(generated, kind, experts, per_token, tokens)
  local counts, sum = {}, 0
  for n = 1, experts do
    counts[n], sum = 0, sum + weight(kind, n)
  end
  for _ = 1, tokens do
    local taken, left = {}, sum
    for _ = 1, math.min(per_token, experts) do
      local at, last = random(generated) * left, nil
      for n = 1, experts do
        if not taken[n] then
          last, at = n, at - weight(kind, n)
          if at < 0 then
            break
          end
        end
      end
      taken[last], left, counts[last] = true, left - weight(kind, last), counts[last] + 1
    end
  end
  return counts
end

-- Many tokens: each expert's share of them and a deviation of the binomial distribution's size (a sum of three even draws),
-- then moved by ones to the right sum.
local function draw_shares(generated, kind, experts, per_token, tokens)
  local counts, sum, total = {}, 0, 0
  for n = 1, experts do
    sum = sum + weight(kind, n)
  end
  for n = 1, experts do
    local share = math.min(1, per_token * weight(kind, n) / sum)
    local deviation = 2 * (random(generated) + random(generated) + random(generated)) - 3
    local count = tokens * share + deviation * (tokens * share * (1 - share)) ^ 0.5
    counts[n] = math.max(0, math.min(tokens, math.floor(count + 0.5)))
    total = total + counts[n]
  end
  local wanted, n = tokens * math.min(per_token, experts), 0
  while total ~= wanted do
    n = n % experts + 1
    local step = total < wanted and 1 or -1
    if counts[n] + step >= 0 and counts[n] + step <= tokens then
      counts[n], total = counts[n] + step, total + step
    end
  end
  return counts
end

-- The next `experts` numbers of expert_tokens.
local function next_given(config, state, tokens)
  local all, experts, counts = config.expert_tokens, config.experts, {}
  if #all % experts ~= 0 then
    error(string.format("expert_tokens: found %d numbers, expected %d (the experts) for each call of a layer", #all, experts), 0)
  end
  local total = 0
  for n = 1, experts do
    counts[n] = all[(state.at + n - 1) % #all + 1]
    total = total + counts[n]
    if counts[n] < 0 or counts[n] > tokens then
      error(string.format("expert_tokens: found %d for an expert, expected 0 to %d (the tokens)", counts[n], tokens), 0)
    end
  end
  state.at = state.at + experts
  local wanted = tokens * config.experts_per_token
  if total ~= wanted and total ~= 0 then
    error(string.format("expert_tokens: the counts of a call add up to %d, expected %d (%d tokens, %d experts each)", total, wanted,
      tokens, config.experts_per_token), 0)
  end
  return counts
end

-- What draws have left behind, for a run of a layer that must come out as before (a checkpoint's recomputation, where the
-- values are the same): save() now, restore(saved) around it.
local states = {}
function routing.save()
  local saved = {}
  for i, state in ipairs(states) do
    saved[i] = { state = state.state, at = state.at }
  end
  return saved
end
function routing.restore(saved)
  for i, state in ipairs(saved) do
    states[i].state, states[i].at = state.state, state.at
  end
end

local function state_of(config)
  if not config.routing_state then
    config.routing_state = generator(config.routing_seed or 1)
    config.routing_state.at = 0
    states[#states + 1] = config.routing_state
  end
  return config.routing_state
end

local function is_given(config)
  return config.expert_tokens and #config.expert_tokens > 0
end

-- used(tokens): how many experts a layer of the config sends tokens to, at each call anew
function routing.chooser(config)
  local kind = config.routing or "given"
  if kind == "given" and not is_given(config) then
    return function()
      return config.experts_used
    end
  end
  local state = state_of(config)
  return function(tokens)
    if not is_given(config) then
      return draw_used(state, kind, config.experts, config.experts_per_token, tokens)
    end
    local used = 0
    for _, count in ipairs(next_given(config, state, tokens)) do
      used = used + (count > 0 and 1 or 0)
    end
    return used
  end
end

local EACH = 64 -- tokens that choose one by one

-- counts(tokens): how many tokens each expert of a layer gets, a list
function routing.counter(config)
  local kind, state = config.routing or "given", state_of(config)
  return function(tokens)
    if is_given(config) then
      return next_given(config, state, tokens)
    elseif kind == "given" then
      local used = (config.experts_used or -1) < 0 and config.experts or math.min(config.experts_used, config.experts)
      return evenly(used, used > 0 and tokens * config.experts_per_token or 0, tokens)
    end
    local draw = tokens <= EACH and draw_each or draw_shares
    return draw(state, kind, config.experts, config.experts_per_token, tokens)
  end
end

return routing
