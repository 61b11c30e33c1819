# every kind of parameter, every way to get one wrong
cat >p.lua <<'LUA'
local p = parameters {
  { "sizes", { 8, 4 }, "two sizes" },
  { "count", 2, "how many", min = 1, max = 100 },
  { "bias", true, "with bias" },
  { "dtype", "fp32", "type", one_of = { "fp32", "bf16" } },
  { "clip", 0.5, "a number", min = 0 },
}
assert(#p.sizes == 2, "sizes: two are needed")
for i = 1, p.count do
  local x = torch.zeros({ p.sizes[1], p.sizes[2] }, p.dtype)
end
LUA
try run p.lua --help-scenario
for word in count =1 cuont=1 count=0 count=101 count=1.5 count=many count=99999999999999999999999 bias=perhaps \
    dtype=fp64 sizes=1 sizes=8,x sizes=1152921504606846976,4 sizes=-1,4 clip=-1 clip=much; do
    try run p.lua --set "$word"
done
try dump requests p.lua --set count=1 --set sizes=16,16 --set dtype=bf16 --set bias=false --set clip=2
try run "$ROOT/scenarios/llama7b.lua" --set heads=5
try run "$ROOT/scenarios/llama7b.lua" --set prepare_kbit=true
cat >frozen.lua <<'LUA'
local nn, checkpoint, training = use "nn", use "checkpoint", use "training"
local p = parameters(training.parameters {})
local layers = nn.ModuleList { nn.Linear(8, 8) }
checkpoint.enable(layers, true)
local x = torch.zeros({ 4, 8 })
training.run(p, layers, function()
  return layers[0](x):sum()
end)
LUA
try run frozen.lua
for word in heads= depth= block_out_channels= block_out_channels=32,-32 groups=7 attention_levels=9 heads=0 heads=400 \
    depth=9223372036854775807; do
    try run "$ROOT/scenarios/stable_diffusion.lua" --set "$word"
done
for word in block_out_channels= block_out_channels=0,32 attention_levels=5; do
    try run "$ROOT/scenarios/unet.lua" --set "$word"
done
try run "$ROOT/scenarios/decoder.lua" --set lengths=16,0
try run "$ROOT/scenarios/decoder.lua" --set batches=-1
