-- Steps and lengths near the largest number: one element, one part.
local x = torch.zeros({ 8, 2 })
note(table.concat(x:slice(0, 1, 7, math.maxinteger).shape, "x"))
note(#{ torch.split(x, math.maxinteger) } .. " part")
note(#{ torch.chunk(x, math.maxinteger - 7) } .. " parts")
