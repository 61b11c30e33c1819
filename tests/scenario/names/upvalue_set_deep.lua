--[==[python
def outer():
    x = new()
    def middle():
        def inner():
            nonlocal x
            x = op(x)
            x = op(x)
        y = op(x)
        inner()
        return op(y)
    middle()
    op(new())
outer()
op(new())
]==]
local op, op2 = torch.zeros_like, torch.add
local function outer()
  local x = torch.zeros({ 1 })
  local function middle()
    local function inner()
      x = op(x)
      x = op(x)
    end
    local y = op(x)
    inner()
    return op(y)
  end
  middle()
  op(torch.zeros({ 1 }))
end
outer()
op(torch.zeros({ 1 }))
