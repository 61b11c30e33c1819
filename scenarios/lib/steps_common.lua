-- steps_common.lua: what the steps of steps_*.lua have in common.
local nn = use "nn"
local optim = use "optim"
local common = {}

function common.ids(...)
  return torch.zeros({ ... }, torch.int64):as("input", "ids")
end

function common.data(...)
  return torch.zeros({ ... }, "fp32"):as("input", "x")
end

function common.adam(module)
  return optim.make("adam", nn.parameters(module), "foreach")
end

-- forward, backward, optimizer, zero_grad. options: clip, accumulate, autocast
function common.plain(optimizer, forward, options)
  local o = options or {}
  local accumulate = o.accumulate or 1
  return function()
    for _ = 1, accumulate do
      phase "forward"
      local region = torch.autocast_enter(o.autocast or "none")
      local loss = forward()
      if accumulate > 1 then
        loss = loss / accumulate
      end
      torch.autocast_leave(region)
      phase "backward"
      loss:backward()
    end
    phase "optimizer"
    if o.clip then
      optim.clip_grad_norm_(optimizer.params, o.clip)
    end
    optimizer:step()
    phase "zero_grad"
    optimizer:zero_grad(true)
  end
end

return common
