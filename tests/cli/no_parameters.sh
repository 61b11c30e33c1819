# a scenario without parameters: what --set and --help-scenario say
echo 'torch.zeros({ 4 })' >none.lua
for arguments in '' '--set lr=0.1' '--help-scenario'; do
    echo "\$ vramsim run none.lua --quiet $arguments"
    # shellcheck disable=SC2086 # words are meant
    "$VRAMSIM" run none.lua --quiet --no-view $arguments 2>&1
    echo "exit $?"
done
