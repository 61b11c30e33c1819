-- generation.lua: a prompt and tokens after it, with a key/value cache, and the parameters of that.
local cache = use "cache"
local generation = {}

generation.rows = {
  { "mode", "train", "what runs", one_of = { "train", "generate" } },
  { "prompt", 128, "generate: tokens of the prompt", min = 1 },
  { "new_tokens", 64, "generate: tokens after it", min = 0, max = 1000000 },
  { "cache", "dynamic", "generate: the key/value cache: grows, or has its final size at once", one_of = { "dynamic", "static" } },
}

local function make_cache(p, model)
  if p.cache == "static" then
    return cache.StaticCache(model.config, p.prompt + p.new_tokens)
  end
  return cache.DynamicCache(model.config)
end

-- A prompt, then tokens one at a time. The scenario's tokens are all the same: sizes are what counts.
function generation.run(p, model, ids)
  local input_ids = ids(p.batch, p.prompt)
  local past = make_cache(p, model)
  phase "prefill"
  local out = torch.no_grad(model, input_ids, nil, past)
  local token = ids(p.batch, 1)
  for _ = 1, p.new_tokens do
    phase "decode"
    out = torch.no_grad(model, token, nil, past)
  end
  return out
end

return generation
