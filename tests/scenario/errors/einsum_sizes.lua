local x, w = torch.zeros({ 2, 3 }), torch.zeros({ 4, 5 })
local y = torch.einsum("ab,bc->ac", { x, w })
