local nn = use "nn"
local layer = nn.Linear(8, 4)
local y = layer(torch.zeros({ 2, 7 }))
