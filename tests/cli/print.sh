# what a scenario prints goes to standard error at once, once, and is no part of any result
cat >scenario.lua <<'LUA'
local p = parameters { { "n", 4, "elements" } }
print("n", p.n, nil, true)
local x = torch.zeros({ p.n }, "fp32")
print(x)
note "a line of the report"
LUA
echo '# both'
{ vramsim run scenario.lua --no-view >report.txt; } 2>&1
grep -c 'a line of the report' report.txt
echo '# quiet'
vramsim run scenario.lua --no-view --quiet 2>&1
echo '# JSON alone on standard output'
vramsim run scenario.lua --no-view --json - 2>printed.txt | head -c 1
cat printed.txt
echo '# a run that does not fit is simulated again, and prints once'
try run scenario.lua --no-view --quiet --set n=1000000000000 --json result.json
echo '# before an error'
printf 'print "here"\nerror("there")\n' >fails.lua
try run fails.lua --no-view
echo '# not for the parameters'
try run scenario.lua --help-scenario
