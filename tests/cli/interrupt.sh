# Ctrl-C ends an endless scenario with 130
printf 'while true do\nend\n' >endless.lua
"$VRAMSIM" run endless.lua --no-view --max-instructions 1000000000000000 &
child=$!
sleep 0.5
kill -INT $child
wait $child
echo "exit $?"
# ... and a long what-if
"$VRAMSIM" replay "$ROOT/scenarios/llama7b.lua" --set steps=10000 --max-requests 100000000 --all --no-view &
child=$!
sleep 0.5
kill -INT $child
wait $child
echo "exit $?"
