# json.awk: a JSON document as lines PATH=VALUE, so that shell scripts can compare documents without another tool.
# usage: awk -f json.awk FILE
# {"steps": [{"own": {"real": 12}}]} becomes steps.0.own.real=12. Strings keep their quotes and escapes; an empty
# object or array gives no line. A document that is not JSON ends with exit code 1.
function place(  i, text) {
    for (i = 1; i <= depth; i++)
        text = text (i > 1 ? "." : "") name[i]
    return text
}
function value_begins() {
    if (depth && kind[depth] == "[")
        name[depth] = count[depth]++
}
function value_ends() {
    if (depth && kind[depth] == "{")
        is_key[depth] = 1
}
function open_container(bracket) {
    value_begins()
    depth++
    kind[depth] = bracket
    count[depth] = 0
    name[depth] = ""
    is_key[depth] = bracket == "{"
}
function scalar(text) {
    if (depth && is_key[depth]) {
        name[depth] = substr(text, 2, length(text) - 2)
        is_key[depth] = 0
        return
    }
    value_begins()
    print place() "=" text
    value_ends()
}
{
    line = $0
    while (line != "") {
        c = substr(line, 1, 1)
        taken = 1
        if (match(line, /^[ \t\r,:]+/))
            taken = RLENGTH
        else if (c == "{" || c == "[")
            open_container(c)
        else if (c == "}" || c == "]") {
            depth--
            value_ends()
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^[-+.0-9A-Za-z]+/)) {
            taken = RLENGTH
            scalar(substr(line, 1, taken))
        } else
            exit 1
        line = substr(line, taken + 1)
    }
}
END {
    exit depth != 0
}
