-- A linear of no features over a batch of 3 dims: the product has as many rows as the batch.
local weight, bias = torch.zeros({ 4, 0 }), torch.zeros({ 4 })
weight.requires_grad, bias.requires_grad = true, true
local out = torch.linear(torch.zeros({ 2, 3, 0 }), weight, bias)
note(table.concat(out.shape, "x"))
out:sum():backward()
note(weight.grad and bias.grad and "both have gradients" or "a gradient is missing")
