mlp=$ROOT/scenarios/mlp.lua
try run "$mlp" --set batch
try run "$mlp" --set =1
try run "$mlp" --set bacth=1
try run "$mlp" --set batch=-1
try run "$mlp" --set batch=1.5
try run "$mlp" --set batch=many
try run "$mlp" --set batch=1152921504606846976
try run "$mlp" --set batch=99999999999999999999999
try run "$mlp" --set bias=perhaps
try run "$mlp" --set act=Swish
try run "$mlp" --set widths=1
try run "$mlp" --set widths=784,x
try run "$ROOT/scenarios/llama7b.lua" --set heads=5
try run "$mlp" --help-scenario
