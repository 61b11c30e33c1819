# which blocks keep which segments, and what must go for a request: of a run, a recording, a replay
cat >holes.lua <<'LUA'
local function block(mib)
  return torch.empty({ mib, 1024, 1024 }, torch.uint8):as("activation", mib .. " MiB")
end
local kept, gone = {}, {}
for i = 1, 4 do -- a segment of 36 MiB each, of which 9 stay
  local whole = block(36)
  whole = nil
  gone[i] = block(24)
  kept[i] = block(9)
end
gone = nil
local small = block(12)
phase "large"
local large = block(80)
LUA
card=A4000:total=660MiB,context=500MiB
try run holes.lua --no-view --device $card --at oom | sed -n '/^fragmentation/,/ peak /p'
vramsim run holes.lua --no-view --device $card --at 12 --need 20MiB | sed -n '/^fragmentation/,/^held/p' | head -n 12
try run holes.lua --no-view --quiet --device $card --json - | sed -n '/"fragmentation": {/,/"segments"/p'
vramsim run holes.lua --no-view --quiet --device $card --json - | awk -f "$ROOT/tests/support/json.awk" | grep '^fragmentation.request'
try run holes.lua --no-view --at nowhere
try run holes.lua --no-view --at 1000
try run holes.lua --no-view --at oom
try run holes.lua --no-view --need 12q
try run holes.lua --no-view --at peak --allocator tensorflow-bfc
# no addresses in a recording, several devices in another
unpack snapshots/two_devices.pickle
try info two_devices.pickle --at end
try info "$ROOT/tests/data/traces/no_history.pickle.zst" --at start --need 30MiB
vramsim info "$ROOT/tests/data/traces/no_history.pickle.zst" --at start --json - | awk -f "$ROOT/tests/support/json.awk" | grep '^fragmentation.0' | head -n 30
