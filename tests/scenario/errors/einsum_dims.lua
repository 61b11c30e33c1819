local x = torch.zeros({ 3, 3 })
local y = torch.einsum("abc->a", { x })
