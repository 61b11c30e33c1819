# measured_row.awk: one published peak beside a simulated one: the line to print, a tab, and ID, kind of meter, error in percent
# with tabs between. -v id= bytes= fits=(true or false) value= unit= meter= model=
# meter: see figure.awk; or fits, where the published "value" is OOM.
function unit_bytes(text) {
    if (text ~ /GiB/)
        return 1024 * 1024 * 1024
    if (text ~ /MiB/)
        return 1024 * 1024
    if (text ~ /GB/)
        return 1000000000
    return text ~ /MB/ ? 1000000 : 0
}
BEGIN {
    if (meter == "fits") {
        same = (fits == "false") == (value == "OOM")
        printf "%-7s %14s %14s %-4s %8s  %-13s %s\t%s\t%s\t%s\n", id, fits == "false" ? "OOM" : "fits", value, "",
            same ? "same" : "DIFFERS", meter, model, id, "fits", same ? 0 : 100
        exit
    }
    divisor = unit_bytes(unit)
    if (divisor == 0) {
        print id ": the unit is not known: " unit > "/dev/stderr"
        exit 1
    }
    error = (bytes / divisor / value - 1) * 100
    kind = meter
    sub(/\..*/, "", kind)
    # as many digits as are printed in the source
    digits = index(value, ".") ? length(value) - index(value, ".") : 0
    name = divisor == 1024 * 1024 * 1024 ? "GiB" : divisor == 1024 * 1024 ? "MiB" : divisor == 1000000000 ? "GB" : "MB"
    printf "%-7s %14.*f %14s %-4s %7.2f%%  %-13s %s\t%s\t%s\t%.4f\n", id, digits < 2 ? 2 : digits, bytes / divisor, value,
        name, error, meter, model, id, kind == "active" ? "allocated" : kind == "device" ? "reserved" : kind, error
}
