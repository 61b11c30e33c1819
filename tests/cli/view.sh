# what the viewer is started with: all that changes the run or the window
mlp=$ROOT/scenarios/mlp.lua
printf '#!/bin/sh\necho "viewer: $*"\n' >viewer
chmod +x viewer
export VRAMSIM_VIEW=$PWD/viewer
try view "$mlp" --set batch=2 --device RTX4090 --framework pytorch-2.11 --alloc expandable_segments:True --max-requests 7 \
    --max-instructions 8 --max-memory 9MiB --size 640x480 --theme light --lang zh
try run "$mlp" --view --quiet --max-requests 100000
try view "$mlp" --max-requests 0
try view "$mlp" --max-memory lots
