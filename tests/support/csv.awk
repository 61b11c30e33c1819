# csv.awk: chosen columns of a CSV file (RFC 4180; quoted fields may hold commas and quotes, no line ends) as lines of fields
# with tabs between.
# usage: awk -v columns=id,value,unit -f csv.awk FILE; exit code 1 when a column is not there.
function split_line(line, field,  n, rest, quoted, i, c) {
    n = 1
    field[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") {
            field[n] = field[n] c
            i++
        } else if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted)
            field[++n] = ""
        else if (c != "\r")
            field[n] = field[n] (c == "\t" ? " " : c)
    }
    return n
}
NR == 1 {
    wanted = split(columns, name, ",")
    for (n = split_line($0, field); n > 0; n--)
        at[field[n]] = n
    for (i = 1; i <= wanted; i++)
        if (!(name[i] in at)) {
            print "csv.awk: no column " name[i] > "/dev/stderr"
            failed = 1
            exit
        }
    next
}
{
    delete field
    split_line($0, field)
    line = field[at[name[1]]]
    for (i = 2; i <= wanted; i++)
        line = line "\t" field[at[name[i]]]
    print line
}
END {
    exit failed
}
