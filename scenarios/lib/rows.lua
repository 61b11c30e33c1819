-- rows.lua: lists of parameter rows, { name, default, doc, ... }, for parameters { ... }.
local rows = {}

-- No tensor is in a list of rows: with a metatable it is not looked through for any.
local plain = {}

function rows.list(list)
  return setmetatable(list, plain)
end

-- Adds to `own` the rows of `more` whose names it has not; returns it.
function rows.append(own, more)
  setmetatable(own, plain)
  local has = setmetatable({}, plain)
  for i = 1, #own do
    has[own[i][1]] = true
  end
  for i = 1, #more do
    if not has[more[i][1]] then
      own[#own + 1] = more[i]
    end
  end
  return own
end

return rows
