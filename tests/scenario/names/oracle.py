#!/usr/bin/env python3
"""What Python itself does: runs the program in a case's --[==[python ... ]==] comment under reference counting and prints
when each tensor is freed, as test_scenario_files does for the Lua below it.

usage: oracle.py FILE.lua...            compares with FILE.expect, exit 1 when one differs
       oracle.py --print FILE.lua...    prints
The traces that vramsim follows were made with CPython 3.11: from 3.12 on comprehensions share their function's frame."""
import sys


class World:
    def __init__(self, most):
        self.lines, self.gap, self.count, self.most = [], [], 0, most

    def end_gap(self):
        if self.gap:
            self.lines.append("free " + " ".join(f"t{n}" for n in sorted(self.gap)))
            self.gap.clear()

    def say(self, line):
        if len(self.lines) > self.most:
            raise OverflowError
        self.end_gap()
        self.lines.append(line)


def names_of(world):
    class Tensor:
        def __init__(self):
            world.count += 1
            self.number, self.freed = world.count, world.gap.append
            world.say(f"t{self.number}")

        def __del__(self):
            self.freed(self.number)

        def __add__(self, other):
            return Tensor()

        __mul__ = __sub__ = __radd__ = __rmul__ = __add__

        def __neg__(self):
            return Tensor()

        def op(self, *others):
            return Tensor()

        def same(self):
            return self

    def op(*inputs):
        return Tensor()

    class Module:
        def __call__(self, *args):
            return self.forward(*args)

    return {"new": lambda: Tensor(), "op": op, "mark": lambda name: world.say("-- " + name), "Module": Module}


def run(source, most=100000):
    world = World(most)
    body = "".join("    " + line + "\n" for line in source.splitlines())
    names = names_of(world)
    exec("def main():\n" + body, names)
    names["main"]()
    world.say("end")
    world.end_gap()
    return "\n".join(world.lines) + "\n"


def program_of(path):
    text = open(path).read()
    start = text.find("--[==[python\n")
    return None if start < 0 else text[start + len("--[==[python\n") : text.index("]==]", start)]


def main():
    paths, show, failed = sys.argv[1:], False, 0
    if paths and paths[0] == "--print":
        show, paths = True, paths[1:]
    for path in paths:
        source = program_of(path)
        if source is None:
            continue
        found = run(source)
        if show:
            print(found, end="")
        elif found != open(path[:-4] + ".expect").read():
            failed += 1
            print(f"{path}: Python says\n{found}")
    print(f"{len(paths)} cases, {failed} differ") if not show else None
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
