# what is often typed by mistake: the message says what was probably meant
mkdir scenarios
cp "$ROOT/scenarios/mlp.lua" scenarios/llama.lua
printf '# a page\n\ntext, more text\n' >README.md
printf '{"layers": 2}\n' >plain.json
printf 'one,two\n1,2\n' >table.csv
head -c 64 /dev/zero >zeros
# files: a scenario where a trace is expected, and the reverse; its name in part; a folder
for file in scenarios/llama.lua "$ROOT/tests/data/recorded/config_bert_classes.config.json" README.md plain.json zeros; do
    try info "$file"
done
for file in README.md table.csv plain.json scenarios scenarios/llama llama llama.lua lama.lua nothing.pickle; do
    try run "$file"
done
try scenarios/llama
try llama.lua
try scenarios
try README.md
try dump tape scenarios
try dump tape llama
try dump tapes scenarios/llama.lua
try view llama
try info scenarios/
try compare - - </dev/null
vramsim info "$(printf 'missing\nvramsim: all is well\033[31m.pickle')" 2>&1
try capture --kinds '' -- true
try capture --kinds memory, -- true
VRAMSIM_OUT=README.md try capture -- true
try validate llama nothing.pickle
# cards
run="run scenarios/llama.lua --no-view"
for device in L40S A100 rtx4080 H20 '' A100-80GB:context=636 A100-80GB:total=48 A100-80GB:total=0.5KiB A100-80GB:link=25 \
    A100-80GB:total=48MiB; do
    try $run --quiet --device "$device"
done
vramsim $run --device A100-80GB:context=636MiB | grep '^  context'
vramsim $run --device A100-80GB | grep '^  context'
vramsim $run --device A100-80GB:context=0,total=1MiB | head -n 4
# limits that may be raised
try $run --quiet --max-requests 3
try $run --quiet --max-instructions 3
# endings of another kind
try $run --quiet --png x.svg
try $run --quiet --svg x.png
try $run --quiet --json x.csv
try $run --quiet --png x.pict
# what asks for a card
vramsim info "$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst" --at peak --need 512MiB | tail -n 1
# a list that is no list of segments
printf '\200\002]q\000(K\001K\002e.' >numbers.pickle
printf '\200\002]q\000.' >empty.pickle
printf '\200\002]q\000(}q\001}q\002e.' >dicts.pickle
for file in numbers empty dicts; do
    try info $file.pickle
done
# a snapshot without history: there is nothing to compare
unpack traces/no_history.pickle
try validate scenarios/llama.lua no_history.pickle
try replay no_history.pickle
vramsim replay no_history.pickle --alloc expandable_segments:True | head -n 4
ls
# a viewer that finds no display, as its exit code 4 says
printf '#!/bin/sh\nexit 4\n' >viewer
chmod +x viewer
VRAMSIM_VIEW=./viewer try view scenarios/llama.lua
DISPLAY=:99 VRAMSIM_VIEW=./viewer try view scenarios/llama.lua
