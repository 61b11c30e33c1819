#!/usr/bin/env python3
"""Writes the small made-up snapshots beside it, packed by zstd: cases that no recording at hand holds.

usage: make_snapshots.py        (needs the program zstd; run only to change a case, the results are committed)"""
import os
import pickle
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
BASE = 0x7f0000000000


def store(name, data):
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", os.path.join(HERE, name + ".zst"), "-"], input=data, check=True)


def entry(action, addr, size, t=None, stream=0, **more):
    e = {"action": action, "addr": addr, "size": size, "stream": stream}
    if t is not None:
        e["time_us"] = t
    e.update(more)
    return e


def block(addr, size, requested, state, frames=()):
    return {"address": addr, "size": size, "requested_size": requested, "state": state, "frames": list(frames)}


def segment(addr, blocks, device=0, stream=0, kind="large", expandable=False, pool=(0, 0)):
    def total(*states):
        return sum(b["size"] for b in blocks if not states or b["state"] in states)
    return {"device": device, "address": addr, "total_size": total(), "allocated_size": total("active_allocated"),
            "active_size": total("active_allocated", "active_pending_free"),
            "requested_size": sum(b["requested_size"] for b in blocks if b["state"] != "inactive"),
            "stream": stream, "segment_type": kind, "segment_pool_id": pool, "is_expandable": expandable, "frames": [],
            "blocks": blocks}


def frame(name, line):
    return {"name": name, "filename": "model.py", "line": line}


def mark(stage, name, t, device=0):
    return {"stage": stage, "name": name, "device": device, "time_us": t}


def cpp(value):
    """The style of PyTorch's C++ pickler: protocol 2, one MARK a container, strings memoised by value, 8-byte LONG1."""
    out, memo = bytearray(b"\x80\x02"), {}

    def put(v):
        if isinstance(v, bool):
            out.extend(b"\x88" if v else b"\x89")
        elif isinstance(v, int):
            if 0 <= v < 256:
                out.extend(b"K" + struct.pack("<B", v))
            elif 0 <= v < 65536:
                out.extend(b"M" + struct.pack("<H", v))
            elif -(1 << 31) <= v < 1 << 31:
                out.extend(b"J" + struct.pack("<i", v))
            else:
                out.extend(b"\x8a\x08" + struct.pack("<q", v))
        elif isinstance(v, float):
            out.extend(b"G" + struct.pack(">d", v))
        elif isinstance(v, str):
            if v in memo:
                i = memo[v]
                out.extend(b"h" + bytes([i]) if i < 256 else b"j" + struct.pack("<I", i))
            else:
                raw, i = v.encode(), len(memo)
                memo[v] = i
                out.extend(b"X" + struct.pack("<I", len(raw)) + raw)
                out.extend(b"q" + bytes([i]) if i < 256 else b"r" + struct.pack("<I", i))
        elif isinstance(v, tuple):
            put(v[0])
            put(v[1])
            out.extend(b"\x86")
        elif isinstance(v, list):
            out.extend(b"](")
            for x in v:
                put(x)
            out.extend(b"e")
        else:
            out.extend(b"}(")
            for k, x in v.items():
                put(k)
                put(x)
            out.extend(b"u")

    put(value)
    return bytes(out + b".")


def two_devices():
    f = [frame("forward", 10), frame("main", 20)]
    b = BASE + (1 << 40)
    return {
        "segments": [
            segment(BASE, [block(BASE, 4 * MIB, 4 * MIB, "active_allocated", f),
                           block(BASE + 4 * MIB, 16 * MIB, 0, "inactive")]),
            segment(b, [block(b, 2 * MIB, 2 * MIB - 100, "active_pending_free"),
                        block(b + 2 * MIB, 18 * MIB, 0, "inactive")], device=1, stream=7),
        ],
        "device_traces": [
            [entry("segment_alloc", BASE, 20 * MIB, 100, frames=f), entry("alloc", BASE, 4 * MIB, 110, frames=f),
             entry("alloc", BASE + 4 * MIB, 6 * MIB, 130, frames=f[:1]),
             entry("free_requested", BASE + 4 * MIB, 6 * MIB, 150), entry("free_completed", BASE + 4 * MIB, 6 * MIB, 150)],
            [entry("segment_alloc", b, 20 * MIB, 105, stream=7), entry("alloc", b, 2 * MIB - 100, 120, stream=7),
             entry("free_requested", b, 2 * MIB - 100, 140, stream=7)],
        ],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
        "external_annotations": [
            mark("END", "before the window", 90), mark("START", "step", 95), mark("START", "forward", 110),
            mark("START", "other", 115, device=1), mark("END", "forward", 140), mark("END", "step", 160),
            mark("START", "open", 170)],
    }


def expandable():
    """[0, 20) MiB is there at the start, [20, 60) is mapped, [40, 60) unmapped again; one block died, one is left."""
    return {
        "segments": [segment(BASE, [block(BASE, 8 * MIB, 8 * MIB, "active_allocated"),
                                    block(BASE + 8 * MIB, 32 * MIB, 0, "inactive")], expandable=True)],
        "device_traces": [[
            entry("segment_map", BASE + 20 * MIB, 40 * MIB, 10), entry("alloc", BASE + 8 * MIB, 50 * MIB - 7, 11),
            entry("free_requested", BASE + 8 * MIB, 50 * MIB - 7, 12),
            entry("free_completed", BASE + 8 * MIB, 50 * MIB - 7, 12),
            entry("segment_unmap", BASE + 40 * MIB, 20 * MIB, 13)]],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "max_split_size": -1,
                               "expandable_segments": True},
        "external_annotations": [],
    }


def started_late():
    """Blocks alive at the start that die in the window, and a start block whose unsplit rest shows only later."""
    a = BASE
    return {
        "segments": [segment(a, [block(a, 20 * MIB, 0, "inactive")])],
        "device_traces": [[
            # 3 MiB + 0.5 MiB unsplit rest at a, 5 MiB right behind it: a gap of 11.5 MiB follows, so the rest is exact
            # only once the next block begins at 8.75 MiB: the 5 MiB block keeps 0.25 MiB
            entry("alloc", a + 8 * MIB + 3 * MIB // 4, 6 * MIB, 1),
            entry("free_completed", a, 3 * MIB, 2),
            entry("free_requested", a + 3 * MIB + MIB // 2, 5 * MIB, 3),
            entry("free_completed", a + 3 * MIB + MIB // 2, 5 * MIB, 4),
            entry("free_requested", a + 8 * MIB + 3 * MIB // 4, 6 * MIB, 5),
            entry("free_completed", a + 8 * MIB + 3 * MIB // 4, 6 * MIB, 6)]],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
        "external_annotations": [],
    }


def damaged():
    """Lost and absurd records, each of which is repaired or skipped and counted."""
    a = BASE
    return {
        "segments": [segment(a, [block(a, 4 * MIB, 4 * MIB, "active_allocated"), block(a + 4 * MIB, 16 * MIB, 0, "inactive")])],
        "device_traces": [[
            entry("segment_alloc", a, 20 * MIB, 1), entry("alloc", a, 4 * MIB, 2), entry("alloc", a, 4 * MIB, 3),
            entry("free_requested", a, 4 * MIB, 4), entry("free_requested", a, 4 * MIB, 4),
            entry("free_completed", a, 4 * MIB, 5), entry("alloc", a, 4 * MIB, 6),
            entry("alloc", a + 4 * MIB, 2 * MIB, 7), entry("free_completed", a + 4 * MIB, 2 * MIB, 8),
            entry("alloc", a + 4 * MIB, 2 * MIB, 9), entry("free", a + 4 * MIB, 2 * MIB, 9),
            entry("user_defined", 0, 0, 10), entry("alloc", a, 1 << 60, 11), {"action": "alloc", "time_us": 12},
            {"action": "oom", "device_free": 42 * MIB, "size": 44 * MIB, "stream": 0, "time_us": 13},
            entry("snapshot", 0, 4 * MIB, 14), entry("segment_unmap", a + (1 << 30), MIB, 15)]],
        "allocator_settings": {},
        "external_annotations": [{"stage": "MIDDLE", "name": "?", "device": 0, "time_us": 1}],
    }


def overlaps():
    """Blocks over live ones, in the trace and at its start, and a clock that is set back."""
    a, b = BASE, BASE + (1 << 30)
    return {
        "segments": [segment(a, [block(a, 12 * MIB, 12 * MIB, "active_allocated"), block(a + 12 * MIB, 8 * MIB, 0, "inactive")]),
                     segment(b, [block(b, 20 * MIB, 0, "inactive")], expandable=True)],
        "device_traces": [[
            # two blocks alive at the start, of which the first reaches into the second
            entry("free_requested", b, 8 * MIB, 1), entry("free_completed", b, 8 * MIB, 2),
            entry("free_requested", b + 2 * MIB, 4 * MIB, 3), entry("free_completed", b + 2 * MIB, 4 * MIB, 4),
            # one over two live blocks, whose frees are missing
            entry("segment_alloc", a, 20 * MIB, 10), entry("alloc", a, 2 * MIB, 11), entry("alloc", a + 2 * MIB, 4 * MIB, 12),
            entry("alloc", a + MIB, 12 * MIB, 5), entry("free_requested", a + MIB, 12 * MIB, 13),
            entry("free_completed", a + MIB, 12 * MIB, 14), entry("alloc", a, 12 * MIB, 15)]],
        "allocator_settings": {},
        "external_annotations": [],
    }


def bare_list():
    """PyTorch 1.13: a list of segments, blocks without addresses, the request in the history."""
    b = [{"size": 4 * MIB, "state": "active_allocated",
          "history": [{"addr": BASE, "real_size": 4 * MIB - 5, "frames": [frame("new", 3)]},
                      {"addr": BASE, "real_size": 1, "frames": [frame("old", 4)]}]},
         {"size": 16 * MIB, "state": "inactive"}]
    return [{"device": 0, "address": BASE, "total_size": 20 * MIB, "allocated_size": 4 * MIB, "active_size": 4 * MIB,
             "stream": 0, "segment_type": "large", "blocks": b}]


def main():
    for name, make, protocol in (("two_devices", two_devices, 5), ("expandable", expandable, 4),
                                 ("started_late", started_late, 3), ("damaged", damaged, 4), ("bare_list", bare_list, 2), ("overlaps", overlaps, 4)):
        store(name + ".pickle", pickle.dumps(make(), protocol))
    for protocol in range(6):
        store(f"two_devices_{protocol}.pickle", pickle.dumps(two_devices(), protocol))
    store("two_devices_cpp.pickle", cpp(two_devices()))


main()
