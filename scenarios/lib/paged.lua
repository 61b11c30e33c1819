-- paged.lua: LLaMA's kind of model served from a paged key/value cache as vLLM's V1 engine does it, eagerly, one card. Nobody has
-- recorded it: it is built from the sources of vLLM 0.10 to 0.12 (vllm/v1/worker/gpu_worker.py determine_available_memory;
-- v1/core/block_pool.py, kv_cache_manager.py, sched/scheduler.py; v1/worker/gpu_model_runner.py; model_executor/models/llama.py
-- with its fused layers) and stands as unproven in docs/validation.md. Preemption by swap is that of the V0 engine.
local nn = use "nn"
local paged = {}

-- ---- the model, with fused projections ----

local function linear(x, weight, bias)
  return torch.linear(x, weight, bias)
end

local Layer = nn.class()
function Layer:init(p)
  local q, kv = p.heads * p.head_dim, p.kv_heads * p.head_dim
  self.qkv_proj = nn.Parameter(torch.empty({ q + 2 * kv, p.hidden }))
  self.qkv_bias = p.model == "qwen2" and nn.Parameter(torch.empty({ q + 2 * kv })) or nil
  self.o_proj = nn.Parameter(torch.empty({ p.hidden, q }))
  self.gate_up_proj = nn.Parameter(torch.empty({ 2 * p.intermediate, p.hidden }))
  self.down_proj = nn.Parameter(torch.empty({ p.hidden, p.intermediate }))
  self.input_layernorm = nn.Parameter(torch.empty({ p.hidden }))
  self.post_attention_layernorm = nn.Parameter(torch.empty({ p.hidden }))
  self.config = p
end

-- The kernel reads the cache by the block table and writes into `output`; its log-sums live for its duration.
local function attention(p, qkv, tokens)
  local output = torch.empty({ tokens, p.heads * p.head_dim }, qkv.dtype)
  local softmax_lse = torch.empty({ p.heads, tokens }, torch.float32)
  return output
end

local function silu_and_mul(x)
  return torch.empty({ x:size(0), x:size(1) // 2 }, x.dtype)
end

-- residual is nil for the first layer; norms with a residual work in place
function Layer:forward(hidden_states, residual)
  local p, tokens = self.config, hidden_states:size(0)
  if not residual then
    residual = hidden_states
    hidden_states = torch.empty({ tokens, p.hidden }, residual.dtype)
  end
  local qkv = linear(hidden_states, self.qkv_proj, self.qkv_bias)
  local attn_output = attention(p, qkv, tokens)
  hidden_states = linear(attn_output, self.o_proj)
  qkv, attn_output = nil, nil -- of the attention's own function
  local function mlp(x)
    local gate_up = linear(x, self.gate_up_proj)
    x = silu_and_mul(gate_up)
    x = linear(x, self.down_proj)
    return x
  end
  hidden_states = mlp(hidden_states)
  return hidden_states, residual
end

local Model = nn.class()
function Model:init(p)
  self.embed_tokens = nn.Parameter(torch.empty({ p.vocab, p.hidden }))
  local layers = {}
  for i = 1, p.layers do
    layers[i] = Layer(p)
  end
  self.layers = nn.ModuleList(layers)
  self.norm = nn.Parameter(torch.empty({ p.hidden }))
  self.cos_sin_cache = nn.Buffer(torch.empty({ math.max(p.prompt + p.new_tokens, 2048), p.head_dim }))
  if not p.tie_embeddings then
    self.lm_head = nn.Parameter(torch.empty({ p.vocab, p.hidden }))
  end
  self.config = p
end
function Model:forward(input_ids)
  local hidden_states, residual = torch.embedding(self.embed_tokens, input_ids), nil
  for i = 0, self.layers.length - 1 do
    hidden_states, residual = self.layers[i](hidden_states, residual)
  end
  return hidden_states
end

-- Logits of the last token of `count` requests, and the next tokens.
local function sample(model, hidden_states, count)
  local last = hidden_states:narrow(0, 0, math.min(count, hidden_states:size(0))):clone()
  local logits = linear(last, model.lm_head or model.embed_tokens)
  logits = logits:to(torch.float32)
  local sampled = logits:argmax(-1)
  return sampled:to(torch.int32)
end

-- ---- blocks ----

-- Blocks are numbered; free ones are taken from the front. A full block of the shared prefix can be found again while nobody
-- has taken it for something else.
local function block_pool(count)
  local self = { free = count, cached = {}, cached_count = 0 }
  -- n blocks, or nil: cached ones that nobody uses go first when there are no others
  function self.take(n)
    if n > self.free + self.unused_cached() then
      return nil
    end
    self.free = self.free - n
    for i = #self.cached, 1, -1 do
      if self.free < 0 and self.cached[i].users == 0 then
        table.remove(self.cached, i)
        self.free = self.free + 1
      end
    end
    return n
  end
  function self.unused_cached()
    local n = 0
    for _, block in ipairs(self.cached) do
      n = n + (block.users == 0 and 1 or 0)
    end
    return n
  end
  return setmetatable(self, {})
end

-- ---- requests ----

local function blocks_for(p, tokens)
  return (tokens + p.block_size - 1) // p.block_size
end

-- Gives the request the blocks that `tokens` more tokens need; false when there are none.
local function allocate(p, pool, r, tokens)
  local need = blocks_for(p, r.computed + tokens) - r.own - r.shared
  if need > 0 then
    if not pool.take(need) then
      return false
    end
    r.own = r.own + need
  end
  return true
end

local function release(pool, r)
  for i = 1, r.shared do
    pool.cached[i].users = pool.cached[i].users - 1
  end
  pool.free, r.own, r.shared = pool.free + r.own, 0, 0
end

-- A request that starts finds the prefix's blocks, as far as they are there and at least one token is left to compute.
local function find_prefix(p, pool, r)
  local most = math.min(p.shared_prefix, r.tokens - 1) // p.block_size
  for i = 1, math.min(most, #pool.cached) do
    pool.cached[i].users = pool.cached[i].users + 1
    r.shared, r.computed = i, i * p.block_size
  end
  return r.computed
end

-- Full blocks of the prefix that this request has computed can be found from now on.
local function publish_prefix(p, pool, r)
  local full = math.min(p.shared_prefix, r.computed) // p.block_size
  while #pool.cached < full and r.own > 0 and r.shared == #pool.cached do
    pool.cached[#pool.cached + 1] = { users = 1 }
    r.own, r.shared = r.own - 1, r.shared + 1
  end
end

-- ---- the engine ----

local function engine(p, model, pool, block_bytes)
  local self = { waiting = {}, running = {}, preemptions = 0, prefix_tokens = 0, swapped_bytes = 0, finished = 0 }

  -- Blocks of all layers go to host memory, or come back: one copy a layer.
  local function copy_blocks(count, to_host)
    self.swapped_bytes = self.swapped_bytes + count * block_bytes
    torch.copy_over_link(count * block_bytes, to_host)
  end

  local function preempt()
    local r = table.remove(self.running)
    self.preemptions = self.preemptions + 1
    if p.preemption == "swap" then
      r.swapped = r.own + r.shared
      copy_blocks(r.swapped, true)
    else
      r.computed = 0
    end
    release(pool, r)
    table.insert(self.waiting, 1, r)
    return r
  end

  local function schedule_running(budget, scheduled)
    local i = 1
    while i <= #self.running and budget > 0 do
      local r = self.running[i]
      local n = math.min(r.tokens - r.computed, budget)
      local preempted
      while not allocate(p, pool, r, n) do
        preempted = preempt()
        if preempted == r then
          break
        end
      end
      if preempted == r then
        return budget, true
      end
      scheduled[#scheduled + 1], r.scheduled = r, n
      budget, i = budget - n, i + 1
      if preempted then
        return budget, true
      end
    end
    return budget, false
  end

  local function schedule_waiting(budget, scheduled)
    while #self.waiting > 0 and budget > 0 and #self.running < p.max_seqs do
      local r = self.waiting[1]
      if not r.swapped then
        find_prefix(p, pool, r)
      end
      local n = math.min(r.tokens - r.computed, budget)
      if not allocate(p, pool, r, n) then
        if not r.swapped then
          release(pool, r)
          r.computed = 0
        end
        return
      end
      if r.swapped then
        copy_blocks(r.swapped, false)
        r.swapped = nil
      else
        self.prefix_tokens = self.prefix_tokens + r.computed
      end
      table.remove(self.waiting, 1)
      self.running[#self.running + 1] = r
      scheduled[#scheduled + 1], r.scheduled = r, n
      budget = budget - n
    end
  end

  local function finish(scheduled)
    for _, r in ipairs(scheduled) do
      r.computed = r.computed + r.scheduled
      publish_prefix(p, pool, r)
      if r.computed == r.tokens then
        r.tokens = r.tokens + 1
      end
    end
    for i = #self.running, 1, -1 do
      local r = self.running[i]
      if r.tokens >= p.prompt + math.max(p.new_tokens, 1) then -- the last token's keys are never asked for
        release(pool, r)
        table.remove(self.running, i)
        self.finished = self.finished + 1
      end
    end
  end

  function self.add()
    self.waiting[#self.waiting + 1] = { tokens = p.prompt, computed = 0, own = 0, shared = 0 }
  end

  -- One step of the engine; returns the tokens it computed.
  function self.step()
    local scheduled, tokens = {}, 0
    local budget, preempted = schedule_running(p.max_batched_tokens, scheduled)
    if not preempted then
      schedule_waiting(budget, scheduled)
    end
    for _, r in ipairs(scheduled) do
      tokens = tokens + r.scheduled
    end
    if tokens > 0 then
      phase(tokens > #scheduled and "prefill" or "decode")
      local hidden_states = model(self.input_ids:narrow(0, 0, tokens))
      local sampled = sample(model, hidden_states, #scheduled)
      sampled:cpu()
    end
    finish(scheduled)
    return tokens
  end
  return setmetatable(self, {})
end

-- What the model runner keeps on the card between steps.
local function input_buffers(p)
  local kept = torch.list()
  local blocks = blocks_for(p, p.prompt + p.new_tokens)
  for _, row in ipairs {
    { "input_ids", { p.max_batched_tokens }, torch.int32 },
    { "positions", { p.max_batched_tokens }, torch.int64 },
    { "slot_mapping", { p.max_batched_tokens }, torch.int64 },
    { "query_start_loc", { p.max_seqs + 1 }, torch.int32 },
    { "seq_lens", { p.max_seqs }, torch.int32 },
    { "block_table", { p.max_seqs, blocks }, torch.int32 },
  } do
    kept:append(torch.zeros(row[2], row[3]):as("input", row[1]))
  end
  return torch.keep(kept)
end

-- determine_available_memory: a step of the most tokens, then what the limit leaves beside its peak and the context
local function profile(p, model, buffers)
  phase "profile"
  local function run()
    local hidden_states = model(buffers[1]:narrow(0, 0, p.max_batched_tokens))
    sample(model, hidden_states, p.max_seqs)
  end
  run()
  local device, memory = torch.get_device_properties(), torch.memory_stats()
  torch.empty_cache()
  return math.floor(memory.total * p.gpu_memory_utilization - memory.allocated_peak - device.context)
end

local function check(p)
  local known = { llama = true, mistral = true, qwen2 = true }
  if p.model and not known[p.model] then
    error("cache=paged: only llama, mistral and qwen2 are modelled, found " .. p.model, 0)
  end
  if p.autocast ~= "none" or (p.quantize and p.quantize ~= "none") or p.lora > 0 then
    error("cache=paged: autocast, quantized weights and adapters are not modelled", 0)
  end
  p.kv_heads = p.kv_heads > 0 and p.kv_heads or p.heads
  p.head_dim = (p.head_dim or 0) > 0 and p.head_dim or p.hidden // p.heads
  p.max_seqs = math.min(p.max_seqs, p.max_batched_tokens)
end

local function serve(p)
  check(p)
  local default = torch.set_default_dtype(p.dtype)
  local model = Model(p)
  torch.set_default_dtype(default)
  nn.name(model)
  local buffers = input_buffers(p)
  local element = p.dtype == "fp32" and 4 or 2
  local page = 2 * p.block_size * p.kv_heads * p.head_dim * element -- bytes of a block in one layer
  local available = profile(p, model, buffers)
  local blocks = available // page // p.layers
  local needed = blocks_for(p, p.prompt + p.new_tokens)
  if blocks <= needed then
    error(string.format("cache=paged: %d blocks are left for the cache at gpu_memory_utilization=%.2f, one request needs %d; "
      .. "raise gpu_memory_utilization, or lower prompt, new_tokens or max_batched_tokens", math.max(blocks, 0),
      p.gpu_memory_utilization, needed), 0)
  end
  phase "cache"
  local kv_caches = torch.keep(torch.list())
  for i = 1, p.layers do
    kv_caches:append(torch.zeros({ blocks * page }, torch.int8):as("kv_cache", "layers." .. (i - 1)))
  end

  local pool = block_pool(blocks - 1) -- one is the placeholder of the block tables
  local run = engine(p, model, pool, page * p.layers)
  run.input_ids = buffers[1]
  local total = p.requests > 0 and p.requests or p.batch
  local arrived, steps, tokens = 0, 0, 0
  torch.synchronize()
  local start = torch.simulated_time()
  while run.finished < total do
    while arrived < total and (p.arrive_every == 0 or arrived * p.arrive_every <= steps) do
      run.add()
      arrived = arrived + 1
    end
    tokens = tokens + run.step()
    steps = steps + 1
  end
  torch.synchronize()
  local seconds = torch.simulated_time() - start
  note(string.format("paged cache (from vLLM's sources, unproven): %d blocks of %d tokens, %d requests of %d tokens at a time", blocks,
    p.block_size, (blocks - 1) // needed, p.prompt + p.new_tokens))
  note(string.format("%d steps, %d tokens computed, %d found in the prefix; %d preemptions, %.2f GB swapped; %.1f ms a step beside attention (estimate)",
    steps, tokens, run.prefix_tokens, run.preemptions, run.swapped_bytes / 1e9, seconds * 1e3 / steps))
end

function paged.run(p)
  torch.no_grad(serve, p)
end

return paged
