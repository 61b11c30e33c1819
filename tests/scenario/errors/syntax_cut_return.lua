local function f()
  local x =
  return x
end
