#!/usr/bin/env python3
"""Random programs, written in Lua and in Python at once: tensors must be freed in the same gaps between requests.

usage: names_prop.py PROGRAM_TEST COUNT SEED [FOLDER]
PROGRAM_TEST is test_scenario_files; programs that differ are kept in FOLDER."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario", "names"))
import oracle

LUA_HEAD = """local op, op2 = torch.zeros_like, torch.add
local nn = use "nn"
"""
MODULE_LUA = """local Twice = nn.class()
function Twice:init() end
function Twice:forward(x)
  x = op(x)
  x = op(x)
  return x
end
local twice = Twice()
"""
MODULE_PYTHON = """class Twice(Module):
    def forward(self, x):
        x = op(x)
        x = op(x)
        return x
twice = Twice()
"""


class Scope:
    """One function: names that hold tensors, lists, closures. `outer` is the function it is written in."""

    def __init__(self, outer=None):
        self.tensors, self.lists, self.closures = [], [], []
        self.outer = outer
        self.unbound = set()  # declared, but nil now
        self.captured = set()  # names of closures: anew, Lua would make a second variable of them

    def copy(self):
        s = Scope(self.outer)
        s.tensors, s.lists, s.closures = self.tensors[:], self.lists[:], self.closures[:]
        s.unbound, s.captured = self.unbound, self.captured
        return s


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lua, self.python = [LUA_HEAD.rstrip(), MODULE_LUA.rstrip()], [MODULE_PYTHON.rstrip()]
        self.functions = []  # (name, parameters, results)
        self.labels = 0
        self.depth = 0

    def emit(self, indent, lua, python=None):
        if lua is not None:
            self.lua.append("  " * indent + lua)
        if python is not None or lua is not None:
            self.python.append("    " * indent + (python if python is not None else lua))

    # expressions: (lua, python)
    def tensor(self, scope, depth=0):
        r = self.r
        choice = r.random()
        if depth > 2 or choice < 0.4:
            visible = scope.tensors
            if visible and r.random() < 0.92:
                name = r.choice(visible)
                return name, name
            return "torch.zeros({ 1 })", "new()"
        if choice < 0.5:
            a, b = self.tensor(scope, depth + 1)
            return f"op({a})", f"op({b})"
        if choice < 0.6:
            a, b = self.tensor(scope, depth + 1), self.tensor(scope, depth + 1)
            return f"op2({a[0]}, {b[0]})", f"op({a[1]}, {b[1]})"
        if choice < 0.7:
            a, b = self.tensor(scope, depth + 1), self.tensor(scope, depth + 1)
            o = r.choice("+*-")
            return f"({a[0]} {o} {b[0]})", f"({a[1]} {o} {b[1]})"
        if choice < 0.78 and scope.tensors:
            a = r.choice(scope.tensors)
            b = self.tensor(scope, depth + 1)
            if r.random() < 0.5:
                return f"{a}:zeros_like():add({b[0]})", f"{a}.op().op({b[1]})"
            return f"{a}:add({b[0]}):zeros_like()", f"{a}.op({b[1]}).op()"
        if choice < 0.84 and scope.lists:
            l = r.choice(scope.lists)
            i = r.randrange(2)
            return f"{l}[{i + 1}]", f"{l}[{i}]"
        if choice < 0.88:
            a = self.tensor(scope, depth + 1)
            return f"twice({a[0]})", f"twice({a[1]})"
        if choice < 0.92 and scope.closures:
            return f"{r.choice(scope.closures)}()", None
        singles = [f for f in self.functions if f[2] == 1]
        if singles:
            name, parameters, _ = r.choice(singles)
            args = [self.argument(scope, kind, depth + 1) for kind in parameters]
            return f"{name}({', '.join(a[0] for a in args)})", f"{name}({', '.join(a[1] for a in args)})"
        a, b = self.tensor(scope, depth + 1)
        return f"op({a})", f"op({b})"

    def argument(self, scope, kind, depth):
        if kind == "L":
            if scope.lists and self.r.random() < 0.8:
                l = self.r.choice(scope.lists)
                return l, l
            a, b = self.value(scope, depth), self.value(scope, depth)
            return f"{{ {a[0]}, {b[0]} }}", f"[{a[1]}, {b[1]}]"
        return self.value(scope, depth)

    def value(self, scope, depth=0):
        lua, python = self.tensor(scope, depth)
        return lua, python if python is not None else lua

    def name(self, scope):
        return self.r.choice("abcdefg")

    def bind(self, scope, indent, name, value, block):
        """name = value; declared where it is not visible, now and then anew in its own block (in an inner one Lua would
        make a second variable of it)."""
        lua, python = value
        if name in scope.captured and name not in scope.tensors:
            return
        fresh = (name not in scope.tensors and name not in scope.unbound) or (name in block and self.r.random() < 0.25 and name not in scope.captured)
        self.emit(indent, f"{'local ' if fresh else ''}{name} = {lua}", f"{name} = {python}")
        if fresh:
            block.add(name)
        scope.unbound.discard(name)
        if name not in scope.tensors:
            scope.tensors.append(name)

    def statement(self, scope, indent, block, loop):
        r, choice = self.r, self.r.random()
        if choice < 0.42:
            self.bind(scope, indent, self.name(scope), self.value(scope), block)
        elif choice < 0.48:
            lua, python = self.value(scope)
            # a module's or method's discarded result may be let go one operator late (names.h)
            if lua.startswith(("op", "f")) and "(" in lua and not lua.endswith("]") and ":" not in lua:
                self.emit(indent, lua, python)
        elif choice < 0.52 and len(scope.tensors) > 1:
            name = r.choice(scope.tensors)
            if name not in block and self.depth > 0:
                return
            self.emit(indent, f"{name} = nil", f"{name} = None")
            scope.tensors.remove(name)
            scope.unbound.add(name)
        elif choice < 0.6:
            name = r.choice("lm")
            a, b = self.value(scope), self.value(scope)
            fresh = name not in scope.lists
            self.emit(indent, f"{'local ' if fresh else ''}{name} = {{ {a[0]}, {b[0]} }}", f"{name} = [{a[1]}, {b[1]}]")
            if fresh:
                scope.lists.append(name)
                block.add(name)
        elif choice < 0.68 and scope.lists:
            l, a = r.choice(scope.lists), self.value(scope)
            kind = r.randrange(3)
            if kind == 0:
                self.emit(indent, f"{l}[1] = {a[0]}", f"{l}[0] = {a[1]}")
            elif kind == 1:
                self.emit(indent, f"{l}[#{l} + 1] = {a[0]}", f"{l}.append({a[1]})")
            else:
                self.emit(indent, f"table.insert({l}, 1, {a[0]})", f"{l}.insert(0, {a[1]})")
        elif choice < 0.74 and self.depth < 3:
            self.branch(scope, indent)
        elif choice < 0.82 and self.depth < 3:
            self.loop(scope, indent)
        elif choice < 0.86 and loop:
            self.emit(indent, f"if i{loop} == 1 then")
            self.python.pop()
            self.python.append("    " * indent + f"if i{loop} == 1:")
            inner = scope.copy()
            self.depth += 1
            own = set()
            self.bind(inner, indent + 1, self.name(inner), self.value(inner), own)
            self.depth -= 1
            self.leave(scope, inner, own)
            if r.random() < 0.5:
                self.emit(indent + 1, "break")
            else:
                self.emit(indent + 1, f"goto continue{loop}", "continue")
            self.emit(indent, "end", "pass")
        elif choice < 0.9:
            pairs = [f for f in self.functions if f[2] == 2]
            if pairs:
                name, parameters, _ = r.choice(pairs)
                args = [self.argument(scope, kind, 1) for kind in parameters]
                a, b = r.sample("abcdefg", 2)
                new = [n for n in (a, b) if n not in scope.tensors]
                if len(new) == 1 or (scope.captured | scope.unbound) & set(new):
                    return
                block.update(new)
                scope.tensors += new
                self.emit(
                    indent,
                    f"{'local ' if new else ''}{a}, {b} = {name}({', '.join(x[0] for x in args)})",
                    f"{a}, {b} = {name}({', '.join(x[1] for x in args)})",
                )
        elif choice < 0.95 and self.depth == self.top and scope.tensors:
            self.closure(scope, indent, block)
        else:
            self.emit(indent, 'phase "mark"', 'mark("mark")')

    def leave(self, scope, inner, own):
        """After a block: names it declared itself are gone in Lua; one that shadowed another must not be read."""
        for name in own:
            scope.unbound.discard(name)
            if name in scope.tensors:
                scope.tensors.remove(name)
            if name in scope.lists:
                scope.lists.remove(name)
        for name in list(scope.tensors):
            if name not in inner.tensors:
                scope.tensors.remove(name)

    def block(self, scope, indent, loop, count):
        self.depth += 1
        inner, own = scope.copy(), set()
        for _ in range(count):
            self.statement(inner, indent, own, loop)
        self.emit(indent, None, None) if False else None
        self.python.append("    " * indent + "pass")
        self.depth -= 1
        self.leave(scope, inner, own)

    def branch(self, scope, indent):
        taken = self.r.random() < 0.6
        self.lua.append("  " * indent + f"if {'true' if taken else 'false'} then")
        self.python.append("    " * indent + f"if {taken}:")
        self.block(scope, indent + 1, 0, self.r.randint(1, 3))
        if self.r.random() < 0.5:
            self.lua.append("  " * indent + "else")
            self.python.append("    " * indent + "else:")
            self.block(scope, indent + 1, 0, self.r.randint(1, 3))
        self.lua.append("  " * indent + "end")

    def loop(self, scope, indent):
        self.labels += 1
        n, kind = self.labels, self.r.randrange(4)
        if kind == 0:
            self.lua.append("  " * indent + f"for i{n} = 0, 2 do")
            self.python.append("    " * indent + f"for i{n} in range(3):")
        elif kind == 1:
            self.lua += ["  " * indent + f"local i{n} = -1", "  " * indent + f"while i{n} < 2 do", "  " * indent + f"  i{n} = i{n} + 1"]
            self.python += ["    " * indent + f"i{n} = -1", "    " * indent + f"while i{n} < 2:", "    " * indent + f"    i{n} = i{n} + 1"]
        elif kind == 2 and scope.lists:
            l = self.r.choice(scope.lists)
            self.lua += ["  " * indent + f"for i{n}, x in ipairs({{ table.unpack({l}) }}) do", "  " * indent + f"  i{n} = i{n} - 1"]
            self.python += ["    " * indent + f"for i{n}, x in enumerate([*{l}]):"]
        else:
            self.lua += ["  " * indent + f"local i{n} = -1", "  " * indent + "repeat", "  " * indent + f"  i{n} = i{n} + 1"]
            self.python += ["    " * indent + f"i{n} = -1", "    " * indent + f"while i{n} < 2:", "    " * indent + f"    i{n} = i{n} + 1"]
            kind = 3
        inner = scope.copy()
        if kind == 2:
            inner.tensors.append("x")
        self.lua.append("  " * indent + "  do") if kind == 3 else None
        self.block_of_loop(scope, inner, indent + 1, n)
        self.lua.append("  " * indent + f"  ::continue{n}::")
        if kind == 3:
            self.lua.append("  " * indent + "  end")
            self.lua.append("  " * indent + f"until i{n} >= 2")
        else:
            self.lua.append("  " * indent + "end")

    def block_of_loop(self, scope, inner, indent, n):
        before = list(inner.tensors)
        self.block(inner, indent, n, self.r.randint(1, 4))
        for name in list(scope.tensors):
            if name not in inner.tensors:
                scope.tensors.remove(name)
        for name in list(scope.lists):
            if name not in inner.lists:
                scope.lists.remove(name)
        del before

    def closure(self, scope, indent, block):
        name = f"k{self.labels}"
        self.labels += 1
        captured = self.r.choice(scope.tensors)
        scope.captured.add(captured)
        rebinds = self.r.random() < 0.6
        self.lua.append("  " * indent + f"local function {name}()")
        self.python.append("    " * indent + f"def {name}():")
        if rebinds:
            self.python.append("    " * (indent + 1) + f"nonlocal {captured}")
            for _ in range(self.r.randint(1, 2)):
                self.emit(indent + 1, f"{captured} = op({captured})")
            if self.r.random() < 0.5:
                self.emit(indent + 1, f"return {captured}")
            else:
                self.emit(indent + 1, f"return op({captured})")
        else:
            self.emit(indent + 1, f"return op(op({captured}))")
        self.lua.append("  " * indent + "end")
        times = self.r.randint(1, 2)
        for _ in range(times):
            self.bind(scope, indent, self.name(scope), (f"{name}()", f"{name}()"), block)

    def function(self):
        name = f"f{len(self.functions)}"
        parameters = [self.r.choice("TTTL") for _ in range(self.r.randint(1, 3))]
        results = self.r.choice([1, 1, 1, 2])
        names = [f"{'p' if kind == 'T' else 'q'}{i}" for i, kind in enumerate(parameters)]
        scope = Scope()
        scope.tensors = [n for n in names if n[0] == "p"]
        scope.lists = [n for n in names if n[0] == "q"]
        self.lua.append(f"local function {name}({', '.join(names)})")
        self.python.append(f"def {name}({', '.join(names)}):")
        self.depth = self.top = 1
        block = set()
        for _ in range(self.r.randint(1, 6)):
            self.statement(scope, 1, block, 0)
        values = [self.value(scope) for _ in range(results)]
        self.emit(1, "return " + ", ".join(v[0] for v in values), "return " + ", ".join(v[1] for v in values))
        self.lua.append("end")
        self.functions.append((name, parameters, results))

    def build(self):
        for _ in range(self.r.randint(1, 4)):
            self.function()
        scope, block = Scope(), set()
        self.depth = self.top = 0
        for _ in range(self.r.randint(3, 10)):
            self.statement(scope, 0, block, 0)
        self.emit(0, "op(torch.zeros({ 1 }))", "op(new())")
        return "\n".join(self.lua) + "\n", "\n".join(self.python) + "\n"


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    folder = sys.argv[4] if len(sys.argv) > 4 else None
    if folder:
        os.makedirs(folder, exist_ok=True)
    compared = differ = 0
    with tempfile.TemporaryDirectory() as temporary:
        for first in range(seed, seed + count, 50):
            paths, expected = [], []
            for s in range(first, min(first + 50, seed + count)):
                lua, python = Program(s).build()
                try:
                    wanted = oracle.run(python, most=1500)
                except (SyntaxError, TypeError, AttributeError, NameError, IndexError, OverflowError):
                    continue  # a name that Python does not know there, or too long
                path = os.path.join(temporary, f"{s}.lua")
                open(path, "w").write(lua)
                paths.append(path)
                expected.append((s, lua, python, wanted))
            out = subprocess.run([program, "--print", *paths], capture_output=True, text=True)
            logs = out.stdout.split("====\n")
            if len(paths) == 1:
                logs = [out.stdout]
            if out.returncode != 0:
                print(out.stderr[-3000:])
            for i, (s, lua, python, wanted) in enumerate(expected):
                compared += 1
                found = logs[i] if i < len(logs) else "(died)"
                if found == wanted:
                    continue
                differ += 1
                if folder:
                    open(os.path.join(folder, f"{s}.lua"), "w").write("--[==[python\n" + python + "]==]\n" + lua)
    print(f"{compared} programs, {differ} differ")
    return differ > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
