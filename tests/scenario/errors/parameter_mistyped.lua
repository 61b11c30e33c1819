local p = parameters { { "width", 512, "features" } }
torch.zeros({ p.widht })
