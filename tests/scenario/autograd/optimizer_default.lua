-- log: none
-- Without a form an optimizer steps as PyTorch chooses on a GPU.
local optimizer = use("optim").make("sgd", torch.list())
note(optimizer.options.impl)
