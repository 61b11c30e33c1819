torch.autocast("fp7", function() end)
