use("optim").make("adam2", torch.list())
