# exit code 3, without a crash and without running what the file holds
unpack traces/no_history.pickle
try info missing.pickle
mkdir folder
try info folder
: >empty.pickle
try info empty.pickle
printf 'hello, I am no trace\n' >text.pickle
try info text.pickle
printf 'cos\nsystem\n(S"touch OWNED"\ntR.' >malicious.pickle
try info malicious.pickle
printf '\200\004\214\002os\214\006system\223\214\013touch OWNED2\205R.' >malicious4.pickle
try info malicious4.pickle
printf '\200\004}\224.' >foreign.pickle
try info foreign.pickle
printf '\200\004K\001.' >number.pickle
try info number.pickle
head -c 2000 no_history.pickle >truncated.pickle
try info truncated.pickle
head -c 500 "$ROOT/tests/data/traces/no_history.pickle.zst" >truncated.pickle.zst
try info truncated.pickle.zst
printf '\037\213\010\000garbage' >bad.pickle.gz
try info bad.pickle.gz
printf '\200\004\225\377\377\377\377\377\377\377\377.' >frame.pickle
try info frame.pickle
try validate "$ROOT/scenarios/mlp.lua" truncated.pickle
try dump tape no_history.pickle
ls
