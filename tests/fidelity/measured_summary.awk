# measured_summary.awk: medians and the ten worst of rows ID, kind, error. -v notes=FILE: lines PATTERN | why a row is off.
# Exit code 1 when a median is above its goal.
function abs(x) {
    return x < 0 ? -x : x
}
function median(kind,  i, j, n, x, list) {
    for (i = 1; i <= rows; i++)
        if (kinds[i] == kind)
            list[++n] = abs(errors[i])
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            x = list[j]
            list[j] = list[j - 1]
            list[j - 1] = x
        }
    counted = n
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
function report(kind, words, goal,  m) {
    m = median(kind)
    if (counted == 0)
        return
    printf "%s: %d rows, median |error| %.2f %% (goal: at most %d %%)\n", words, counted, m, goal
    if (m > goal)
        missed = 1
}
function note_of(id,  i) {
    for (i = 1; i <= noted; i++)
        if (id ~ ("^(" pattern[i] ")$"))
            return text[i]
    return "not explained"
}
BEGIN {
    FS = "\t"
    while ((getline line < notes) > 0) {
        cut = index(line, " | ")
        if (line ~ /^#/ || cut == 0)
            continue
        pattern[++noted] = substr(line, 1, cut - 1)
        text[noted] = substr(line, cut + 3)
        gsub(/ /, "", pattern[noted])
        sub(/^ +/, "", text[noted])
    }
}
{
    ids[++rows] = $1
    kinds[rows] = $2
    errors[rows] = $3
    if ($2 == "fits" && $3 != 0)
        wrong++
}
END {
    print ""
    report("allocated", "allocated", 1)
    report("reserved", "reserved or device", 3)
    if (wrong)
        print wrong " rows that ran out of memory are said to fit"
    print "\nthe ten worst:"
    for (shown = 0; shown < 10; shown++) {
        worst = 0
        for (i = 1; i <= rows; i++)
            if (!(i in done) && kinds[i] != "fits" && (!worst || abs(errors[i]) > abs(errors[worst])))
                worst = i
        if (!worst || abs(errors[worst]) < 0.05)
            break
        done[worst] = 1
        printf "  %-7s %7.2f%%  %s\n", ids[worst], errors[worst], note_of(ids[worst])
    }
    if (shown == 0)
        print "  none is off by 0.05 %"
    exit missed
}
