-- ipairs goes over a ModuleList from its first module, which is number 0, and over a table as always.
local nn = use "nn"
local list = nn.ModuleList { nn.Linear(2, 3), nn.Linear(3, 4) }
local seen = ""
for i, layer in ipairs(list) do
  seen = seen .. i .. ":" .. layer.weight:size(0) .. " "
end
for i, value in ipairs { "a", "b", nil, "d" } do
  seen = seen .. i .. value
end
note(seen)
