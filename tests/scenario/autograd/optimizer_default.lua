-- log: none
-- Without a form an optimizer steps as PyTorch chooses on a GPU.
local optimizer = use("optim").make("sgd", use("nn").parameters(use("nn").Linear(2, 2)))
note(optimizer.options.impl)
