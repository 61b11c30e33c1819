# an out-of-memory that the program catches does not end the run: it fits, and the report says what failed
cat >caught.lua <<'LUA'
local function large(gib)
  local x = torch.empty({ gib * 1024, 1024, 1024 }, torch.uint8)
  local y = x + x
end
local kept = torch.empty({ 1024, 1024 }, torch.uint8):as("input", "kept")
torch.catch_oom(function() large(2) end)
torch.catch_oom(function() large(1) end)
LUA
cp caught.lua uncaught.lua
echo 'large(1)' >>uncaught.lua
verdict() {
    vramsim run "$@" --no-view >out
    code=$?
    sed -n '/FINISHED\|FITS\|DOES NOT FIT\|RAN OUT\|^  no request/,/^$/p' out
    grep '^out of memory' out
    echo "exit $code"
}
card=A4000:total=2548MiB,context=500MiB
verdict caught.lua --device $card
verdict uncaught.lua --device $card
vramsim run caught.lua --device $card --no-view --quiet --json - | grep -A 4 '"fits"'
vramsim run uncaught.lua --device $card --no-view --quiet --json - | grep -A 4 '"fits"'
# a recording: the program went on after its failures; it ended with one
verdict "$ROOT/tests/data/recorded/llama_oom_caught.pickle.zst"
verdict "$ROOT/tests/data/traces/pytorch-2.15/llama7b_bf16_on_24gb.pickle.zst"
