# document.awk: a row of row.awk as a row of docs/fidelity.md. -v scenario=FILE -v options="NAME=VALUE ..."
NR == 1 {
    printf "| %s | %s%s | %s of %s | %s (%s) | %s (%s) | %s |\n", $NF, scenario, options == "" ? "" : " `" options "`",
        $2, $3, $5, $6, $7, $8, tolower($1)
}
