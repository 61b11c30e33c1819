try --help
try --version
for command in run view validate info dump devices; do
    try $command --help
done
