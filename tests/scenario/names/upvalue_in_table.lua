--[==[python
def make():
    x = new()
    def get():
        return op(x)
    return {"get": get}
obj = make()
op(new())
obj["get"]()
op(new())
obj = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local function make()
  local x = torch.zeros({ 1 })
  return { get = function() return op(x) end }
end
local obj = make()
op(torch.zeros({ 1 }))
obj.get()
op(torch.zeros({ 1 }))
obj = nil
op(torch.zeros({ 1 }))
