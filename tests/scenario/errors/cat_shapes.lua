torch.cat({ torch.zeros({ 0 }), torch.zeros({ 2, 3 }), torch.zeros({ 2, 4 }) })
