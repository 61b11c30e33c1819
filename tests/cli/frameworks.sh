# what differs between releases, in the requests of a few ops: workspaces, flash attention's random state, einsum's layout
cat >ops.lua <<'END'
local x, w, b = torch.zeros({ 64, 32 }), torch.zeros({ 48, 32 }), torch.zeros({ 48 })
local y = torch.linear(x, w, b)
y = torch.linear(x, w, b)
local q = torch.zeros({ 1, 2, 128, 64 }, "bf16")
local a = torch.scaled_dot_product_attention(q, q, q)
local e = torch.einsum("ab,cb->ca", { x, w }):reshape(-1)
local o = torch.einsum("ab,a->ab", { x, torch.zeros({ 64 }) })
o = torch.bmm(x:unsqueeze(2), x:unsqueeze(1))
END
for framework in pytorch-2.15 pytorch-2.14 pytorch-2.13 pytorch-2.12 pytorch-2.11 pytorch-2.10 pytorch-2.9 pytorch-2.8 pytorch-2.7 pytorch-2.6; do
    echo "$framework"
    vramsim dump requests ops.lua --framework $framework | grep -v ' free_requested ' | cut -d' ' -f2-6
done
