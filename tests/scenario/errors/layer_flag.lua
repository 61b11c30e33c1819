use("nn").Linear(4, 4, { bias = false })
