# row.awk: one row of the fidelity table.
# Input: lines PATH=VALUE (support/json.awk), PATH beginning with v. (validate --json), r. (run --json) or m. (NAME.json,
# what PyTorch itself reported). -v name=...; exit code 1 when anything differs.
function value(path) {
    return (path in at) ? at[path] : "?"
}
# The message without what belongs to the process: other processes' and this one's memory outside PyTorch are facts of the
# recording machine, not of the step.
function figures(message) {
    gsub(/(Process [0-9]+ has [^ ]+ [KMGT]?i?B memory in use\. |Including non-PyTorch memory, this process has [^ ]+ [KMGT]?i?B memory in use\. )/, "", message)
    return message
}
function error_of(what,  error) {
    error = value("v.peak." what ".error_bytes")
    if (error != "0")
        differs = 1
    return error
}
{
    cut = index($0, "=")
    at[substr($0, 1, cut - 1)] = substr($0, cut + 1)
    if (/^m\./)
        has_facts = 1
}
END {
    differs = value("v.equal") != "true"
    # of a recording that begins mid-run: what lived before, block by block
    if ("v.window.alive_before.real" in at) {
        alive = "v.window.alive_before."
        if (value(alive "equal") != value(alive "real") || value(alive "equal") != value(alive "simulated"))
            differs = 1
    }

    # PyTorch's own running maxima at the end of each step
    for (i = 0; ("m.marks." i ".at") in at; i++) {
        mark = at["m.marks." i ".at"]
        if (mark ~ /^"step [0-9]+"$/) {
            n = substr(mark, 7, length(mark) - 7)
            steps++
            good = value("m.marks." i ".allocated_bytes.all.peak") == value("r.steps." n ".allocated_peak_bytes") &&
                value("m.marks." i ".reserved_bytes.all.peak") == value("r.steps." n ".reserved_peak_bytes")
            steps_equal += good
        } else if (mark == "\"oom\"") {
            real_oom = value("m.marks." i ".message")
        }
    }
    if (steps != steps_equal)
        differs = 1

    simulated_oom = value("r.oom.message")
    if (simulated_oom == "?" && real_oom == "")
        oom = "none"
    else if (!has_facts)
        oom = "-"
    else if (figures(real_oom) == figures(simulated_oom))
        oom = "equal"
    else {
        oom = "DIFFERS"
        differs = 1
    }
    allocated_error = error_of("allocated")
    reserved_error = error_of("reserved")
    printf "%-9s %6s %6s %6s %15s %7s %15s %7s %5s %-7s %s\n", differs ? "DIFFERENT" : "EQUAL", value("v.requests.equal"),
        value("v.requests.real"), value("v.requests.simulated"), value("v.peak.allocated.real"), allocated_error,
        value("v.peak.reserved.real"), reserved_error, steps ? steps_equal "/" steps : "-", oom, name
    if (oom == "DIFFERS")
        printf "    real      %s\n    simulated %s\n", real_oom, simulated_oom
    if (differs && value("v.first_divergence.request") != "?")
        printf "    first divergence at request %s\n", value("v.first_divergence.request")
    exit differs
}
