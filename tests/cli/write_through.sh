# links stay and what they name is written; rights stay; pipes, devices and standard output's own file are written as they are
mlp=$ROOT/scenarios/mlp.lua
trace=$ROOT/tests/data/traces/pytorch-2.15/mlp_sgd.pickle.zst
write() { vramsim run "$mlp" --quiet --no-view "$@"; echo "exit $?"; }
is_json() { head -c 1 "$1"; tail -c 2 "$1"; }
mkdir far
echo old >far/result.json
chmod 640 far/result.json
ln -s far/result.json link.json
ln -s link.json link2.json
echo '# a link to a link to a file'
write --json link2.json
is_json far/result.json
echo '# a link to what is not there yet'
ln -s far/new.svg new.svg
write --svg new.svg
head -c 4 far/new.svg
echo
echo '# an absolute link'
ln -s "$PWD/far/rows.csv" rows.csv
write --csv rows.csv
[ -s far/rows.csv ] && echo written
echo '# links that lead nowhere'
ln -s loop loop
write --png loop
ln -s missing/x lost
write --json lost
echo '# a link to a folder'
ln -s far folder
write --json folder
echo '# a pipe'
mkfifo pipe
cat pipe >read.json &
write --json pipe
wait
is_json read.json
echo '# standard output by other names, as a pipe and as a file: the result alone'
vramsim run "$mlp" --no-view --json /dev/stdout | head -c 1
vramsim run "$mlp" --no-view --json /dev/stdout >out.json
is_json out.json
vramsim info "$trace" --json /dev/fd/1 >>out2.json
is_json out2.json
vramsim validate "$mlp" "$trace" --json out3.json >out3.json
is_json out3.json
echo '# another number'
write --json /dev/fd/3 3>third.json
is_json third.json
echo '# standard output is closed: what goes there is not written, and no file takes its number'
vramsim devices >&-
echo "exit $?"
vramsim run "$mlp" --quiet --no-view --json closed.json >&-
echo "exit $?"
is_json closed.json
echo '# what is there now'
stat -c '%a %F %N' link.json link2.json far/result.json
ls far
