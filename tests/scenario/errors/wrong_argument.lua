local y = torch.relu("text")
