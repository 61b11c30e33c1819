# limits: of a scenario exit code 2, of a trace 3, each with what raises them
scenario() { cat >scenario.lua; try run scenario.lua --no-view --quiet "$@"; }
scenario --max-instructions 1000000 <<'LUA'
while true do end
LUA
scenario --max-requests 1000 <<'LUA'
while true do local x = torch.zeros({ 4 }) end
LUA
echo '# all that C copies out of Lua counts'
for statement in 'note(s)' 'print(s)' 'compare_with_estimate(s)' 'parameters { { "a", s, s } }' 'x:as("input", s .. i)' \
    'phase(s .. i)' 'torch.hold(x, "parameter", s .. i)' 'nn.name(m, s .. i)' \
    'torch.autograd_function { name = s .. i, forward = print, backward = print }'; do
    echo "# $statement"
    printf 'local nn = use "nn"\nlocal m = nn.Linear(4, 4, true, "fp32")\nlocal s = string.rep("x", 100000)\n' >scenario.lua
    printf 'local x = torch.zeros({ 4 })\nfor i = 1, 2000 do %s end\n' "$statement" >>scenario.lua
    try run scenario.lua --no-view --quiet --max-instructions 20000000 2>&1 | cut -c1-200 | grep -v '^xxx'
done
echo '# and all that C makes'
for statement in 'phase "x"' 'begin_step(1)' 'note "x"' 'x = x:view(4)' 'lists:append(x)'; do
    echo "# $statement"
    printf 'local nn = use "nn"\nlocal x, lists = nn.Parameter(torch.zeros({ 4 }, "fp32")), torch.list()\n' >scenario.lua
    printf 'while true do\n %s\nend\n' "$statement" >>scenario.lua
    try run scenario.lua --no-view --quiet --max-memory 24MiB
done
echo '# what would be cut is refused'
scenario <<'LUA'
phase "a\0b"
LUA
echo '# traces'
head -c 300000000 /dev/zero | zstd -q -3 >bomb.zst
try info bomb.zst
try replay bomb.zst
try validate "$ROOT/scenarios/mlp.lua" bomb.zst
try dump timeline bomb.zst
try run bomb.zst --no-view
try info bomb.zst --max-memory 400MB
try info /dev/zero --max-memory 2MiB
head -c 3000000 /dev/zero | gzip -1 >bomb.gz
try info bomb.gz --max-memory 2MiB
unpack traces/pytorch-2.15/llama7b_bf16_b1_s2048.pickle
for size in 1MiB 4MiB 100MiB; do
    try info llama7b_bf16_b1_s2048.pickle --quiet --max-memory $size
done
rm llama7b_bf16_b1_s2048.pickle
unpack traces/pytorch-2.15/mlp_sgd.pickle
echo '# a missing file: of a scenario, of a trace'
try validate missing.lua mlp_sgd.pickle
try dump tape missing.lua
try validate "$ROOT/scenarios/mlp.lua" missing.pickle
