# a scenario's mistakes end with its file and line
printf 'local x = = 1\n' >syntax.lua
try run syntax.lua
printf 'local x = torch.zeros({ 4, 3 }, "fp32")\nlocal w = torch.zeros({ 5, 4 }, "fp32")\nlocal y = x:matmul(w)\n' >shapes.lua
try run shapes.lua
printf 'local nothing = undefined_name + 1\n' >global.lua
try run global.lua
printf 'local x = torch.zeros({ 1 << 60 }, "fp32")\n' >huge.lua
try run huge.lua
printf 'local x = torch.zeros({ 1 << 40, 1 << 40 }, "fp32")\n' >overflow.lua
try run overflow.lua
printf 'local x = torch.zeros({ -4 }, "fp32")\n' >negative.lua
try run negative.lua
printf 'while true do\nend\n' >endless.lua
try run endless.lua --max-instructions 1000000
printf 'local m = use "../../etc/passwd"\n' >escape.lua
try run escape.lua
printf 'print(os, io, debug, load, require, package)\n' >sandbox.lua
try run sandbox.lua
: >empty.lua
try run empty.lua --quiet
try run missing.lua
mkdir folder.lua
try run folder.lua
# a long path is told whole
long=a_folder_with_a_long_name/and_another_one_that_is_in_it/and_a_third
mkdir -p $long
echo 'torch.nothing()' >$long/x.lua
try run $long/x.lua
echo 'torch.(' >$long/x.lua
try run $long/x.lua
