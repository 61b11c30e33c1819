#!/usr/bin/env vramsim
print("on line 2")
error("here")
