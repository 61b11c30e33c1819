print({}, print, torch.zeros({ 2 }))
print(tostring({}))
print(("%s"):format({}))
print(("%p"):format({}))
