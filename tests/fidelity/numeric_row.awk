# numeric_row.awk: one number of a report beside a simulated one. -v id= number= (bytes, or a phase) value= unit= tolerance=
# quantity=. Exit code 1 when it is not within its tolerance.
function unit_bytes(text) {
    if (text ~ /^TiB/)
        return 1024 * 1024 * 1024 * 1024
    if (text ~ /^GiB/)
        return 1024 * 1024 * 1024
    if (text ~ /^MiB/)
        return 1024 * 1024
    if (text ~ /^GB/)
        return 1000000000
    return text ~ /^MB/ ? 1000000 : 1
}
# Digits behind the point
function digits(text) {
    return index(text, ".") ? length(text) - index(text, ".") : 0
}
function abs(x) {
    return x < 0 ? -x : x
}
BEGIN {
    if (unit == "phase") {
        good = index(value, number) > 0
        shown = number
    } else {
        figure = number / unit_bytes(unit)
        places = digits(value)
        shown = sprintf("%.*f %s", places, figure, unit)
        number_of_tolerance = tolerance + 0
        if (tolerance ~ /^bound/) {
            sub(/^less than /, "", value)
            good = figure < value
            value = "less than " value
            shown = sprintf("%.2f %s", figure, unit)
        } else if (tolerance ~ /^exact/)
            good = sprintf("%.*f", places, figure) == sprintf("%.*f", places, value)
        else if (tolerance ~ /^[0-9.]+%/)
            good = abs(figure / value - 1) * 100 <= number_of_tolerance
        else
            good = abs(figure - value) <= number_of_tolerance + 0.5 / 10 ^ places
    }
    if (length(value) > 40)
        value = substr(value, 1, 37) "..."
    if (length(quantity) > 70)
        quantity = substr(quantity, 1, 67) "..."
    printf "%-7s %-6s %16s  %-12s %-12s %s\n", good ? "good" : "FAILED", id, shown, value, substr(tolerance, 1, 12), quantity
    exit !good
}
