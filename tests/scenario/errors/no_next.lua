for k in next, { a = 1 } do
  print(k)
end
