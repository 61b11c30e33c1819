-- functional.lua: torch.nn.functional, where it is more than one op.
local F = {}

-- Loss.cpp cross_entropy_loss: log_softmax in the input's own type, then nll_loss; the mean or the sum asks for the same.
function F.cross_entropy(input, target, _)
  local log_probabilities = torch.log_softmax(input, 1, input.dtype)
  return torch.nll_loss(log_probabilities, target)
end

return F
