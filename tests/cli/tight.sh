# what the report says of a run that came near to its end, and of one that ended early
cat >tight.lua <<'LUA'
local function block(mib)
  return torch.empty({ mib, 1024, 1024 }, torch.uint8):as("activation", mib .. " MiB")
end
local a, b = block(60), block(60)
a, b = nil, nil
local c = block(100)
LUA
card=A4000:total=660MiB,context=500MiB
try run tight.lua --no-view --device $card | head -n 9
try run tight.lua --no-view --device A4000 | head -n 7
vramsim run tight.lua --no-view --device $card | grep '^note'
# it ended before its modules could have a name
vramsim run "$ROOT/scenarios/mixtral.lua" --no-view --set layers=32 | grep -E 'DOES NOT|^note'
# a moment after the model's end, and its failure, where the recording has none
trace=$ROOT/tests/data/traces/pytorch-2.15/llama7b_bf16_b1_s2048.pickle.zst
for at in 4132 4133 20000 oom; do
    echo "--at $at"
    vramsim replay "$trace" --device RTX4090 --no-view --at $at | grep -A 1 '^fragmentation'
done
try replay "$trace" --at oom
try replay "$trace" --device RTX4090 --no-view --at 99999999
vramsim replay "$ROOT/scenarios/llama7b.lua" --device RTX4090 --no-view --at 20000 | grep -A 1 '^fragmentation'
vramsim replay "$trace" --device RTX4090 --no-view --quiet --at 20000 --json - | awk -f "$ROOT/tests/support/json.awk" |
    grep -E '^devices.0.fragmentation_(recorded|model)\.(event|moment|reserved_bytes)='
