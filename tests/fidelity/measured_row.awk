# measured_row.awk: one published peak beside a simulated run: the line to print, a tab, and ID, kind of meter, error in percent
# with tabs between. Input: the run's JSON as lines PATH=VALUE (support/json.awk).
# -v id= value= unit= meter= model= metric=
# meter: allocated or reserved (the last step's own peak), allocated.N (step N's), allocated.run or active.run (of the whole
# run), allocated.end (left after the last step), device (with the context), fits (the published "value" is OOM).
{
    cut = index($0, "=")
    at[substr($0, 1, cut - 1)] = substr($0, cut + 1)
}
function unit_bytes(text) {
    if (text ~ /GiB/)
        return 1024 * 1024 * 1024
    if (text ~ /MiB/)
        return 1024 * 1024
    if (text ~ /GB/)
        return 1000000000
    return text ~ /MB/ ? 1000000 : 0
}
END {
    for (steps = 0; ("steps." steps ".own_peak_bytes") in at; steps++)
        ;
    split(meter, part, ".")
    kind = part[1]
    step = part[2] ~ /^[0-9]+$/ ? part[2] - 1 : steps - 1
    if (meter == "fits") {
        same = (at["fits"] == "false") == (value == "OOM")
        printf "%-7s %14s %14s %-4s %8s  %-10s %s\t%s\t%s\t%s\n", id, at["fits"] == "false" ? "OOM" : "fits", value, "",
            same ? "same" : "DIFFERS", meter, model, id, "fits", same ? 0 : 100
        exit
    }
    if (part[2] == "run")
        bytes = at["peak." kind "_bytes"]
    else if (part[2] == "end")
        bytes = at["steps." step ".allocated_end_bytes"]
    else if (kind == "allocated")
        bytes = at["steps." step ".own_peak_bytes"]
    else if (kind == "reserved")
        bytes = at["steps." step ".own_reserved_peak_bytes"]
    else if (kind == "device")
        bytes = at["device.used_peak_bytes"]
    divisor = unit_bytes(unit)
    if (bytes == "" || divisor == 0) {
        print id ": meter " meter " or unit " unit " is not known" > "/dev/stderr"
        exit 1
    }
    error = (bytes / divisor / value - 1) * 100
    # as many digits as are printed in the source
    digits = index(value, ".") ? length(value) - index(value, ".") : 0
    name = divisor == 1024 * 1024 * 1024 ? "GiB" : divisor == 1024 * 1024 ? "MiB" : divisor == 1000000000 ? "GB" : "MB"
    printf "%-7s %14.*f %14s %-4s %7.2f%%  %-10s %s\t%s\t%s\t%.4f\n", id, digits < 2 ? 2 : digits, bytes / divisor, value, name,
        error, meter, model, id, kind == "active" ? "allocated" : kind == "device" ? "reserved" : kind, error
}
