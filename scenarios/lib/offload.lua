-- offload.lua: modules whose weights stay in host memory and come to the device for the time of a call, as accelerate 1.15
-- does it (dispatch_model with parts on "cpu": AlignDevicesHook, hooks.py): weight by weight, before the module that owns
-- them runs; the host waits for every copy, and the allocator's cache is emptied after each (set_module_tensor_to_device).
local nn = use "nn"
local offload = {}

-- Parameters of the module itself, by name.
local function own_parameters(module)
  local names = {}
  for _, key in ipairs(module._members) do
    if type(module[key]) == "userdata" and not module[key].is_buffer then
      names[#names + 1] = key
    end
  end
  return names
end

-- pre_forward and post_forward around the module's forward
local function align(module, moved)
  local names, forward = own_parameters(module), module.forward
  local in_host_memory = setmetatable({}, {})
  for _, key in ipairs(names) do
    in_host_memory[key] = module[key]
    moved.bytes = moved.bytes + module[key]:numel() * moved.element
  end
  function module:forward(...)
    local weights = {}
    for _, key in ipairs(names) do
      weights[key] = torch.no_grad(torch.cuda, in_host_memory[key])
      rawset(self, key, weights[key])
      torch.empty_cache()
    end
    local output = table.pack(forward(self, ...))
    for _, key in ipairs(names) do
      rawset(self, key, in_host_memory[key])
      weights[key] = nil
    end
    return table.unpack(output, 1, output.n)
  end
end

local function to_device(module, buffers)
  for _, key in ipairs(module._members) do
    local member = module[key]
    if type(member) == "userdata" and member.is_buffer == buffers then
      torch.cuda_(member)
      torch.empty_cache()
    end
  end
end

-- Moves a module that was built in host memory: modules for which is_offloaded(module) is true, and all within them, keep
-- their parameters there and get hooks; everything else goes to the device. element: bytes of one number of a weight.
-- Returns the bytes that cross the link in each call of all of them.
function offload.dispatch(model, is_offloaded, element)
  local moved = { bytes = 0, element = element }
  local function visit(module, offloaded)
    offloaded = offloaded or is_offloaded(module)
    if not offloaded then
      to_device(module, false)
    elseif #own_parameters(module) > 0 then
      align(module, moved)
    end
    to_device(module, true)
    for _, key in ipairs(module._members) do
      if type(module[key]) == "table" then
        visit(module[key], offloaded)
      end
    end
  end
  visit(model, false)
  nn.name(model)
  return moved.bytes
end

return offload
