-- amp.lua: torch.amp.GradScaler (torch/amp/grad_scaler.py of 2.15), name by name.
local amp = {}

local GradScaler = {}
GradScaler.__index = GradScaler

-- What it holds between calls: its scale, growth tracker, and the found_inf of the optimizer since the last update.
local SCALE, GROWTH_TRACKER, FOUND_INF = 1, 2, 3

function amp.GradScaler()
  return setmetatable({ held = torch.keep(torch.list()) }, GradScaler)
end

function GradScaler:scale(outputs)
  if not self.held[SCALE] then
    self.held[SCALE] = torch.zeros({}, torch.float32)
    self.held[GROWTH_TRACKER] = torch.zeros({}, torch.int32)
  end
  local scale = self.held[SCALE]
  return outputs * scale
end

-- _MultiDeviceReplicator: a copy for the device, made when first asked for
local function replicate(replicator)
  if not replicator.copy then
    replicator.copy = replicator.master:clone()
  end
  return replicator.copy
end

local function unscale_grads_(optimizer, inv_scale, found_inf)
  local per_device_inv_scale = { master = inv_scale }
  local per_device_found_inf = { master = found_inf }
  local grads = torch.list()
  for i = 1, #optimizer.params do
    if optimizer.params[i].grad then
      grads:append(optimizer.params[i].grad)
    end
  end
  local found_inf_copy = replicate(per_device_found_inf)
  local inv_scale_copy = replicate(per_device_inv_scale)
  torch.amp_foreach_non_finite_check_and_unscale_(grads, found_inf_copy, inv_scale_copy)
  return found_inf_copy
end

function GradScaler:unscale_(optimizer)
  local inv_scale = self.held[SCALE]:to(torch.float64):reciprocal():float()
  local found_inf = torch.zeros({}, torch.float32)
  self.held[FOUND_INF] = unscale_grads_(optimizer, inv_scale, found_inf)
end

local function check_inf_per_device(self, optimizer)
  local dummy_inv_scale = torch.ones({}, torch.float32)
  local found_inf = torch.zeros({}, torch.float32)
  self.held[FOUND_INF] = unscale_grads_(optimizer, dummy_inv_scale, found_inf)
end

-- A fused optimizer reads scale and found_inf itself; for the others the host looks whether there was an inf, and then does not
-- step. There is one where the scenario says so.
function GradScaler:step(optimizer, has_inf)
  if optimizer.options.impl == "fused" then
    local unscaled = self.held[FOUND_INF] ~= nil
    if not unscaled then
      check_inf_per_device(self, optimizer)
    end
    local scaler = self.held[SCALE]
    local found_inf = self.held[FOUND_INF] + 0
    local grad_scale = not unscaled and scaler * 1 or nil
    optimizer:step()
    return
  end
  if not self.held[FOUND_INF] then
    self:unscale_(optimizer)
  end
  self.held[FOUND_INF]:item()
  if not has_inf then
    optimizer:step()
  end
end

function GradScaler:update()
  torch.amp_update_scale_(self.held[SCALE], self.held[GROWTH_TRACKER], self.held[FOUND_INF])
  self.held[FOUND_INF] = nil
end

return amp
