# the estimate stands beside the defaults alone; recorded stacks are told by the frame of the user
llama=$ROOT/scenarios/llama7b.lua
vramsim run "$llama" --no-view | grep -A 9 '^textbook'
echo "$(vramsim run "$llama" --no-view --set batch=2 | grep -c textbook) with another batch"
vramsim run "$ROOT/tests/data/traces/recorded_from_empty.pickle.zst" --no-view | sed -n '/^held by source line/,/^$/p'
vramsim run "$llama" --no-view --set layers=1 --set lora=8 | grep 'adds a copy'
vramsim run "$ROOT/scenarios/mlp.lua" --no-view | grep -E 'at most|left out|^  (parameters  |reserved)'
vramsim run "$llama" --no-view --device RTX4090 --set layers=1 --set batch=100 | grep -E '^  (op|for) '
cat >loop.lua <<'S'
phase "forward"
local a = torch.zeros({ 64, 64 })
phase "backward"
local b = a + a
S
vramsim run loop.lua --no-view | grep '^note: '
