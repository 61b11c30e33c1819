local nn = use "nn"
use("optim").make("adamw", nn.Linear(4, 4))
