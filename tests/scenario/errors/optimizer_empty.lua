use("optim").make("adamw", torch.list())
