-- Something of everything: a module, lists, closures, tables, backward, an optimizer.
local nn = use "nn"
local F = use "functional"
local optim = use "optim"

local p = parameters { { "width", 8, "width", min = 1 }, { "names", { 1, 2 }, "a list" } }
local model = nn.Sequential(nn.Linear(p.width, 4, true, "fp32"), nn.ReLU(), nn.Linear(4, 3, false, "fp32"))
nn.name(model)
local optimizer = optim.make("adamw", nn.parameters(model), "foreach")
local x = torch.zeros({ 2, p.width }, "fp32"):as("input", "x")
local y = torch.zeros({ 2 }, torch.int64)
local outputs = {}
local function forward()
  local logits = model(x)
  outputs[#outputs + 1] = { logits = logits, list = torch.list() }
  outputs[#outputs].list:append(logits)
  return F.cross_entropy(logits, y)
end
for i = 1, 2 do
  begin_step(i)
  phase "forward"
  local loss = torch.autocast("bf16", forward)
  phase "backward"
  loss:backward()
  phase "optimizer"
  optimizer:step()
  optimizer:zero_grad()
  if i == 2 then
    goto done
  end
  ::done::
end
print("notes", #outputs)
