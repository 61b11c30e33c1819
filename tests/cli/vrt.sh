# a trace and a run as .vrt: everything that opens a trace opens it, and nothing is lost
unpack traces/pytorch-2.15/mlp_sgd.pickle
mlp=$ROOT/scenarios/mlp.lua
vramsim convert mlp_sgd.pickle -o t.vrt
vramsim run "$mlp" --set optimizer=sgd --quiet --no-view -o s.vrt
vramsim convert t.vrt -o again.vrt
vramsim convert "$mlp" --set optimizer=sgd -o again_s.vrt
for stage in requests timeline; do
    vramsim dump $stage mlp_sgd.pickle >trace.txt
    vramsim dump $stage "$mlp" --set optimizer=sgd >run.txt
    for name in t again; do vramsim dump $stage $name.vrt | cmp - trace.txt && echo "$name: the same $stage"; done
    for name in s again_s; do vramsim dump $stage $name.vrt | cmp - run.txt && echo "$name: the same $stage"; done
done
sizes() { sed 's/[0-9]* bytes/N bytes/; s/[0-9]* unpacked/N unpacked/'; } # zstd packs as it likes
vramsim info t.vrt | sizes
vramsim validate "$mlp" t.vrt --set optimizer=sgd | head -n 2
vramsim replay t.vrt | head -n 4
zstd -q t.vrt
vramsim info t.vrt.zst | head -n 1 | sizes
# cut off, damaged, of tomorrow
head -c 40 t.vrt >header.vrt
head -c 300 t.vrt >cut.vrt
{ head -c 16 t.vrt; printf '\002\000'; tail -c +19 t.vrt; } >major2.vrt
{ head -c 300 t.vrt; printf 'xxxx'; tail -c +305 t.vrt; } >damaged.vrt
for name in header cut major2 damaged; do try info $name.vrt; done
{ cat t.vrt; printf 'more'; } >long.vrt
vramsim info long.vrt | grep warnings
try convert mlp_sgd.pickle
try convert mlp_sgd.pickle -o x.txt
try convert mlp_sgd.pickle -o x.txt --format nothing
try convert mlp_sgd.pickle -o missing/x.vrt
try convert mlp_sgd.pickle -o x.txt --format vrt
try convert mlp_sgd.pickle --set batch=2 -o x.vrt
try run "$mlp" --quiet --no-view -o x.txt
ls
