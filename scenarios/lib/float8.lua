-- float8.lua: torchao.float8 (0.18): linear layers whose products run in 8 bits, scaled by the largest magnitude of each
-- tensor at each use. Weights, activations and gradients stay in their own types.
local float8 = {}

local function forward(self, input)
  local output = torch.float8_linear(input, self.weight)
  if self.bias then
    output = output + self.bias
  end
  return output
end

-- Every nn.Linear below `module` but those that keep(name) names.
function float8.convert_to_float8_training(module, keep)
  for _, name in ipairs(module._members) do
    local member = module[name]
    if type(member) == "table" then
      if member.is_linear then
        if not keep(name) then
          member.forward = forward
        end
      else
        float8.convert_to_float8_training(member, keep)
      end
    end
  end
end

return float8
