use("nn").Conv2d(3, 8, 3, { pading = 1 })
