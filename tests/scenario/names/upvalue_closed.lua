--[==[python
def counter():
    state = new()
    def f():
        nonlocal state
        state = op(state)
        return op(state)
    return f
g = counter()
mark("g holds state")
op(new())
a = g()
b = g()
mark("dropped")
g = None
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
-- a closure holds what it names after its maker has returned
local function counter()
  local state = torch.zeros({ 1 })
  return function()
    state = op(state)
    return op(state)
  end
end
local g = counter()
phase "g holds state"
op(torch.zeros({ 1 }))
local a = g()
local b = g()
phase "dropped"
g = nil
op(torch.zeros({ 1 }))
