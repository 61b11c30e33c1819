-- A tensor of shape [0] adds nothing, wherever it stands, and its neighbours' gradients are where they were.
local a, empty = torch.zeros({ 2, 3 }), torch.zeros({ 0 })
a.requires_grad = true
local out = torch.cat({ empty, a, empty, a })
note(table.concat(out.shape, "x"))
out:sum():backward()
note(a.grad and "a has a gradient" or "no gradient")
