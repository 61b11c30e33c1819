local nn = use "nn"
nn.Sequential { nn.Linear(4, 4) }
