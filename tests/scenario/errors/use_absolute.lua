local m = use "/etc/passwd"
