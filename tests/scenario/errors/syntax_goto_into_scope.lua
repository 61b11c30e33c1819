-- Lua forbids it as it does without marks
do
  goto done
  local x = 1
  ::done::
  print(x)
end
