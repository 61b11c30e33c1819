try devices
try frameworks
vramsim ops | head -n 3
