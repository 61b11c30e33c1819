torch.stop()
