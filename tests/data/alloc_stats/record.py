#!/usr/bin/env python3
"""usage: record.py COURSE.txt, with PyTorch 2.15 on a GPU of at least 64 GiB or on a stand-in for the CUDA runtime.
Runs the commands of a course and writes it anew with what torch.cuda.memory_stats() says at each `stats`: the names whose values
have changed since the one before, "-" where a name is gone. Lines of the old file that begin with a blank are dropped.
The course's first lines name the settings and, by `device`, what the stand-in must have as its device's memory."""
import os, sys

path = sys.argv[1]
course = [l.rstrip("\n") for l in open(path) if not l.startswith(" ")]
words = {l.split()[0]: l.split()[1:] for l in course if l}
mib, conf = words["device"][0], (words.get("settings") or [""])[0]
if os.environ.get("COURSE") != path:
    os.environ.update(COURSE=path, NULLGPU_MEM_MIB=mib, NULLGPU_CONTEXT_MIB="0", PYTORCH_ALLOC_CONF=conf)
    os.execv(sys.executable, [sys.executable] + sys.argv)

import torch

live, last, out, pool, inside = {}, {}, [], None, None


def empty(count):
    return torch.empty(int(count), dtype=torch.uint8, device="cuda")


for line in course:
    out.append(line)
    command, *args = line.split() or [""]
    if command == "take":
        live[args[0]] = empty(args[1])
    elif command == "oom":
        try:
            empty(args[0])
            sys.exit(f"{line}: no out of memory")
        except torch.OutOfMemoryError:
            pass
    elif command == "free":
        del live[args[0]]
    elif command == "empty_cache":
        torch.cuda.empty_cache()
    elif command == "pool":
        pool = torch.cuda.MemPool()
    elif command == "begin":
        inside = torch.cuda.use_mem_pool(pool)
        inside.__enter__()
    elif command == "end":
        inside.__exit__(None, None, None)
        inside = None
    elif command == "drop":
        pool = None
    elif command == "fraction":
        torch.cuda.set_per_process_memory_fraction(float(args[0]))
    elif command == "change":
        torch.cuda.memory._set_allocator_settings(args[0])
    elif command == "reset_peak":
        torch.cuda.reset_peak_memory_stats()
    elif command == "reset_sums":
        torch.cuda.reset_accumulated_memory_stats()
    elif command == "stats":
        now = dict(torch.cuda.memory_stats())
        out += [f"  {k} {v}" for k, v in now.items() if last.get(k) != v]
        out += [f"  {k} -" for k in last if k not in now]
        last = now
open(path, "w").write("\n".join(out) + "\n")
