-- a mark must not complete it
if true then
  local x =
end
