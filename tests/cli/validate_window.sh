# recordings of a real GPU: one from an empty allocator, one from mid-run
traces=$ROOT/tests/data/traces
device="A100-80GB:total=81152MiB,context=500MiB"
try validate "$ROOT/scenarios/attention_head.lua" "$traces/recorded_from_empty.pickle.zst" --framework pytorch-2.6 --device "$device"
try validate "$ROOT/scenarios/transformer_small.lua" "$traces/real-gpu/forward_fp32_128.pickle.zst" --framework pytorch-2.6 --device "$device"
# a longer sequence; other rules of the allocator
try validate "$ROOT/scenarios/transformer_small.lua" "$traces/real-gpu/forward_fp32_128.pickle.zst" --framework pytorch-2.6 --device "$device" --set seq=256 --set warmup=1
try validate "$ROOT/scenarios/transformer_small.lua" "$traces/real-gpu/forward_fp32_128.pickle.zst" --framework pytorch-2.6 --device "$device" --alloc expandable_segments:True
vramsim validate "$ROOT/scenarios/transformer_small.lua" "$traces/real-gpu/forward_fp32_128.pickle.zst" --framework pytorch-2.6 --device "$device" --quiet --json v.json
awk -f "$ROOT/tests/support/json.awk" v.json | grep -E '^(equal|window|placement|requests)'
