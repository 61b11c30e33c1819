use("optim").make("adamw", use("nn").parameters(use("nn").Linear(2, 2)), "fusedd")
