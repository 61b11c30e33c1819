# other programs' formats, told by the ending, and what each cannot hold
unpack traces/pytorch-2.15/mlp_sgd.pickle
mlp=$ROOT/scenarios/mlp.lua
cat >small.lua <<'LUA'
local x = torch.zeros({ 300 }, "fp32"):as("input", "x")
begin_step(1)
phase "forward"
local y = torch.relu(x)
LUA
for ending in vrt json csv perfetto pickle; do
    try convert small.lua -o run.$ending
    try convert mlp_sgd.pickle -o trace.$ending
done
cat run.json
cat run.csv
cat run.perfetto
try validate small.lua run.pickle
vramsim validate "$mlp" trace.pickle --set optimizer=sgd | head -n 1
vramsim dump timeline trace.pickle >again.txt
vramsim dump timeline mlp_sgd.pickle | cmp - again.txt && echo "the same"
vramsim convert small.lua -o - --format csv 2>/dev/null | cmp - run.csv && echo "the same"
vramsim run small.lua --quiet --no-view -o run2.pickle 2>/dev/null
cmp run.pickle run2.pickle && echo "the same"
# a snapshot names no card, by which the size of a reservation goes: the replay finds one that does as well
for scenario in resnet50 gpt2; do
    vramsim convert "$ROOT/scenarios/$scenario.lua" --alloc expandable_segments:True -o expandable.pickle 2>losses.txt
    vramsim replay expandable.pickle --no-view | head -n 1
done
for ending in vrt json; do
    vramsim dump timeline run.$ending >again.txt
    vramsim dump timeline small.lua | cmp - again.txt && echo "the same"
done
printf '{"format":"vramsim timeline","version":1,"events":{"columns":["kind"],"rows":[["gone"]]}}' >bad.json
try info bad.json
