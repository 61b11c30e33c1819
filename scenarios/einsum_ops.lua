-- einsum_ops.lua: einsum by many equations, max and min over a dim, each forward and backward, to compare with a recording.
local p = parameters {
  { "outer", true, "those whose gradients are products of an inner size of 1, too" },
}

local function tensors(shapes, dtype)
  local list = {}
  for i = 1, #shapes do
    list[i] = torch.empty(shapes[i], dtype)
    list[i].requires_grad = true
  end
  return list
end

local function run(equation, shapes, dtype)
  local operands = tensors(shapes, dtype or "fp32")
  local out = torch.einsum(equation, operands)
  out:sum():backward()
end

local function outer(equation, shapes)
  if p.outer then
    run(equation, shapes)
  end
end

local function extreme(f, dim, keepdim, shape, dtype)
  local x = torch.empty(shape, dtype or "fp32")
  x.requires_grad = true
  local values, indices = f(x, dim, keepdim)
  values:sum():backward()
end

begin_step(1)
phase "forward"
run("fd,bd->bf", { { 384, 160 }, { 96, 160 } })
run("bd,fd->bf", { { 96, 160 }, { 384, 160 } })
run("df,fbs->bsd", { { 160, 384 }, { 384, 3, 40 } })
run("bsd,fd->fbs", { { 3, 40, 160 }, { 384, 160 } })
run("ab,bc", { { 70, 50 }, { 50, 90 } })
run("a,b->ab", { { 700 }, { 900 } })
run("ab,cd->ad", { { 70, 50 }, { 60, 90 } })
outer("ab,bc->a", { { 70, 50 }, { 50, 90 } })
run("ab,b->ab", { { 70, 50 }, { 50 } })
run("ab->ba", { { 70, 50 } })
run("ab->b", { { 7000, 50 } })
run("ab->", { { 7000, 50 } })
outer("ab,ab->", { { 70, 50 }, { 70, 50 } })
run("ab,bc,cd->ad", { { 70, 50 }, { 50, 90 }, { 90, 30 } })
run("...ab,bc->...ac", { { 3, 5, 70, 50 }, { 50, 90 } })
run("...ab,...cb->...ac", { { 3, 5, 70, 50 }, { 3, 5, 60, 50 } })
run("...ab,...cb->...ac", { { 3, 1, 70, 50 }, { 1, 5, 60, 50 } })
run("bhsd,bhtd->bhst", { { 2, 4, 65, 33 }, { 2, 4, 65, 33 } })
run("bshd,bthd->bhst", { { 2, 65, 4, 33 }, { 2, 65, 4, 33 } })
run("bhst,bthd->bshd", { { 2, 4, 65, 65 }, { 2, 65, 4, 33 } })
outer("...a,...a->...", { { 4, 65, 160 }, { 4, 65, 160 } })
outer("Ba,aB->", { { 70, 50 }, { 50, 70 } })
run("...a,ba->...b", { { 4, 65, 160 }, { 384, 160 } }, "bf16")
torch.autocast("bf16", function()
  run("...a,ba->...b", { { 4, 65, 160 }, { 384, 160 } })
  run("ab,b...->...a", { { 160, 384 }, { 384, 4, 65 } })
end)
for _, f in ipairs { torch.max, torch.min } do
  extreme(f, -1, true, { 4, 1 << 20 })
  extreme(f, 0, false, { 1 << 16, 8 })
  extreme(f, 1, true, { 512, 10000 }, "bf16")
  extreme(f, 1, false, { 4, 8192, 128 })
end
local x = torch.empty({ 512, 4097 })
local y = torch.max(x)
local m = torch.zeros({ 3000, 70 }, torch.bool)
local n = m:sum()
n = m:sum(1)
phase()
