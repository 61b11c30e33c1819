local x = torch.zeros({ 2, 3 })
local y = torch.einsum("ab,bc->ac", { x })
