try --help
try --version
for command in run view render validate compare info replay convert capture dump devices; do
    try $command --help
done
