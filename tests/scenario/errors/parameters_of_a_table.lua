local nn = use "nn"
nn.parameters({})
