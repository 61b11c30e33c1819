-- ema.lua: torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn: a second copy of the model that follows it.
local ema = {}

-- Tensors of a module as deepcopy meets them: its parameters, its buffers, the modules within.
local function tensors_of(module, found)
  for _, buffers in ipairs { false, true } do
    for _, key in ipairs(module._members) do
      local member = module[key]
      if type(member) ~= "table" and member.is_buffer == buffers and not found.seen[member] then
        found.seen[member] = true
        found[#found + 1] = member
      end
    end
  end
  for _, key in ipairs(module._members) do
    if type(module[key]) == "table" then
      tensors_of(module[key], found)
    end
  end
  return found
end

local function update_parameters(self)
  local first = self.n_averaged == 0
  if first then
    for i = 1, #self.parameters do
      self.averaged[i]:copy_(self.parameters[i])
    end
  else
    local n_averaged = torch.zeros({}, torch.int64) -- self.n_averaged.to(device)
    torch.foreach_lerp_(self.averaged, self.parameters)
    n_averaged = nil
  end
  for i = 1, #self.buffers do
    self.averaged_buffers[i]:copy_(self.buffers[i])
  end
  self.n_averaged = self.n_averaged + 1
end

function ema.AveragedModel(model)
  local self = setmetatable({ n_averaged = 0 }, {})
  local parameters, averaged, buffers, averaged_buffers = torch.list(), torch.list(), torch.list(), torch.list()
  for _, t in ipairs(tensors_of(model, setmetatable({ seen = setmetatable({}, {}) }, {}))) do
    local copy = torch.hold(torch.no_grad(t.clone, t), "parameter", "ema", t)
    if t.is_buffer then -- Tensor.__deepcopy__: its storage, then new_empty([]), which is set to it
      torch.empty({}, t.dtype)
      buffers:append(t)
      averaged_buffers:append(copy)
    else
      parameters:append(t)
      averaged:append(copy)
    end
  end
  self.parameters, self.averaged = torch.keep(parameters), torch.keep(averaged)
  self.buffers, self.averaged_buffers = torch.keep(buffers), torch.keep(averaged_buffers)
  self.update_parameters = function(self)
    torch.no_grad(update_parameters, self)
  end
  return self
end

return ema
