# figure.awk: one figure of a run, in bytes. Input: the run's JSON as lines PATH=VALUE (support/json.awk). -v meter=
# meter: allocated or reserved (the last step's own peak), allocated.N (step N's), allocated.run, active.run (the whole run's),
# allocated.end (left after the last step), device (with the context), a category of memory (its own peak, as requested), phase
# (the name of the phase of the peak).
{
    cut = index($0, "=")
    at[substr($0, 1, cut - 1)] = substr($0, cut + 1)
}
END {
    for (steps = 0; ("steps." steps ".own_peak_bytes") in at; steps++)
        ;
    split(meter, part, ".")
    kind = part[1]
    step = part[2] ~ /^[0-9]+$/ ? part[2] - 1 : steps - 1
    if (part[2] == "run")
        figure = at["peak." kind "_bytes"]
    else if (part[2] == "end")
        figure = at["steps." step ".allocated_end_bytes"]
    else if (kind == "allocated")
        figure = at["steps." step ".own_peak_bytes"]
    else if (kind == "reserved")
        figure = at["steps." step ".own_reserved_peak_bytes"]
    else if (kind == "device")
        figure = at["device.used_peak_bytes"]
    else if (kind == "phase") {
        figure = at["peak.phase"]
        gsub(/"/, "", figure)
        sub(/.*\//, "", figure)
    } else
        figure = at["categories_requested_peak." kind]
    if (figure == "") {
        print "no such meter, or the run has no figure for it: " meter > "/dev/stderr"
        exit 1
    }
    print figure
}
