"""check.py VRAMSIM ROOT: files that `vramsim convert` writes, read by Python's own pickle, json and csv: their sums are
those that vramsim reports, and what belongs together is together."""
import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile

vramsim, root = sys.argv[1:3]
cases = [
    ("scenarios/mlp.lua", []),
    ("scenarios/llama7b.lua", ["--device", "RTX4090"]),
    ("scenarios/llama7b.lua", ["--set", "layers=2", "--alloc", "expandable_segments:True"]),
    ("tests/data/traces/pytorch-2.15/streams_record_stream.pickle.zst", []),
    ("tests/data/traces/oom_torch20.pickle.zst", []),
]


def run(*arguments):
    return subprocess.run([vramsim, *arguments], check=True, capture_output=True, text=True).stdout


def check_pickle(path, facts):
    snapshot = pickle.load(open(path, "rb"))
    for device, trace in enumerate(snapshot["device_traces"]):
        if not trace:
            continue
        want = facts["devices"][str(device)]
        assert sum(e["size"] for e in trace if e["action"] == "alloc") == want.get("alloc_bytes_total", 0)
        segments = [s for s in snapshot["segments"] if s["device"] == device]
        assert sum(s["total_size"] for s in segments) == want["end_reserved"]
        assert sum(s["active_size"] for s in segments) == want["end_active"]
        assert [s["address"] for s in segments] == sorted(s["address"] for s in segments)
        for s in segments:
            at = s["address"]
            for b in s["blocks"]:
                assert b["address"] == at, (b, at)
                at += b["size"]
            assert at == s["address"] + s["total_size"]
        times = [e["time_us"] for e in trace if "time_us" in e]
        assert times == sorted(times)
    stages = [a["stage"] for a in snapshot["external_annotations"]]
    assert stages.count("END") <= stages.count("START")
    assert snapshot["allocator_settings"]["max_split_size"] == -1


def check_perfetto(path, facts):
    """The Trace Event Format, as far as Perfetto's importer and chrome://tracing need it."""
    trace = json.load(open(path))
    assert list(trace) == ["traceEvents", "otherData"]
    open_slices, named, clocks = {}, set(), {}
    for e in trace["traceEvents"]:
        assert list(e)[:4] == ["ph", "pid", "tid", "ts"] and e["ph"] in "MCBEi"
        pid = e["pid"]
        assert 1 <= pid <= 256 and e["tid"] == pid and e["ts"] >= clocks.get(pid, 0)
        clocks[pid] = e["ts"]
        if e["ph"] == "M":
            assert e["name"] == "process_name" and e["args"]["name"] and pid not in named
            named.add(pid)
        assert pid in named, "a process has its name first"
        slices = open_slices.setdefault(pid, [])
        if e["ph"] == "B":
            slices.append(e["name"])
        elif e["ph"] == "E":
            assert slices and ("name" not in e or e["name"] in slices)
            slices.remove(e.get("name", slices[-1]))
        elif e["ph"] == "C":
            assert list(e["args"]) == ["bytes"] and isinstance(e["args"]["bytes"], int) and 0 <= e["args"]["bytes"] < 2**53
        elif e["ph"] == "i":
            assert e["s"] == "p" and e["name"]
    assert not any(open_slices.values())
    for device, want in facts["devices"].items():
        for name in "active", "reserved":
            values = [e["args"]["bytes"] for e in trace["traceEvents"]
                      if e["ph"] == "C" and e["pid"] == int(device) + 1 and e["name"] == name]
            if want["peak_" + name]:
                assert max(values) == want["peak_" + name], (device, name)
    ooms = sum(want["actions"].get("oom", 0) for want in facts["devices"].values())
    assert sum(e["ph"] == "i" for e in trace["traceEvents"]) == ooms


def check_csv(path, facts):
    rows = list(csv.DictReader(open(path, newline="")))
    assert [int(r["event"]) for r in rows] == list(range(len(rows)))
    for device, want in facts["devices"].items():
        own = [r for r in rows if r["device"] == device]
        assert len(own) >= want["events"]
        assert sum(int(r["bytes"]) for r in own if r["kind"] == "alloc") == want.get("alloc_bytes_total", 0)
        assert max(int(r["active"]) for r in own) == want["peak_active"]


with tempfile.TemporaryDirectory() as folder:
    for path, options in cases:
        vrt = os.path.join(folder, "x.vrt")
        run("convert", os.path.join(root, path), *options, "-o", vrt)
        facts = json.loads(run("info", vrt, "--json", "-"))
        for figures in facts["devices"].values():
            figures.update(figures["replay"])
        for ending, check in (".pickle", check_pickle), (".perfetto", check_perfetto), (".csv", check_csv):
            out = os.path.join(folder, "x" + ending)
            run("convert", vrt, "-o", out)
            check(out, facts)
            print("ok", path, *options, ending)
