torch["repeat"](torch.zeros({ 16 }), 1 << 60)
