"""importers_python.py PROGRAM COUNT SEED [FILE...]: the importers against Python's json and pickle.

COUNT made files of each kind, profiles and raw memory timelines with all that JSON allows and snapshots in the protocols 0 to 5,
and the given files (profiles and timelines, .json; snapshots, .pickle; .gz and .zst of them) and folders of snapshots: `PROGRAM info
--json` must say what Python finds, and the timeline must have the segments and pools that stand at the end.
"""
import glob
import gzip
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile

program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
LARGE = 1 << 45


def info(path):
    run = subprocess.run([program, "info", path, "--quiet", "--json", "-"], capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{path}: exit {run.returncode}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def compare(path, want, got, where=""):
    for key, value in want.items():
        name = f"{where}.{key}"
        if key not in got:
            sys.exit(f"{path}: {name} is missing, expected {value}")
        if isinstance(value, dict):
            compare(path, value, got[key], name)
        elif got[key] != value:
            sys.exit(f"{path}: {name} is {got[key]}, expected {value}")


# --- what Python finds ---


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def thousandths(text):
    """Microseconds as written -> nanoseconds, as the importer reads them; None where it does not."""
    whole, _, fraction = text.partition(".")
    if not whole.isdigit() or (fraction and not fraction.isdigit()):
        return None
    return int(whole) * 1000 + int((fraction + "000")[:3])


class Number(str):
    """A number that keeps its digits."""


def load(data):
    return json.loads(data, parse_float=Number)


def profile_facts(top):
    events = top["traceEvents"] if isinstance(top, dict) else top
    phases, categories, devices, kernels, streams = {}, {}, {}, 0, set()
    memory = []
    for event in events:
        for name, counts in (("ph", phases), ("cat", categories)):
            text = event.get(name)
            if isinstance(text, str) and text and not isinstance(text, Number):
                counts[text] = counts.get(text, 0) + 1
        args = event.get("args") if isinstance(event.get("args"), dict) else {}
        if event.get("name") == "[memory]":
            time = event.get("ts")
            time = thousandths(time if isinstance(time, Number) else str(time)) if time is not None else None
            good = is_whole(args.get("Bytes")) and is_whole(args.get("Device Type")) and time is not None
            if good and args["Device Type"] >= 0:
                index = args.get("Ev Idx")
                memory.append((time, index if is_whole(index) and index >= 0 else 0, len(memory), args))
        elif event.get("ph") == "X" and event.get("cat") in ("kernel", "Kernel"):
            kernels += 1
            if is_whole(args.get("stream")) and args["stream"] >= 0:
                device = args.get("device")
                streams.add((device if is_whole(device) and device >= 0 else 0, args["stream"]))
    in_file = [m[0] for m in memory]
    memory.sort(key=lambda m: m[:3])
    for _, _, _, args in memory:
        device = args.get("Device Id")
        key = f"{args['Device Type']}:{device if is_whole(device) else 0}"
        d = devices.setdefault(key, {"events": 0, "allocs": 0, "frees": 0, "bytes_allocated": 0, "bytes_freed": 0, "sum": 0, "peak_sum": 0})
        size = args["Bytes"]
        d["events"] += 1
        d["allocs" if size >= 0 else "frees"] += 1
        d["bytes_allocated" if size >= 0 else "bytes_freed"] += abs(size)
        d["sum"] += size
        d["peak_sum"] = max(d["peak_sum"], d["sum"])
    for d in devices.values():
        if d["sum"] < 0:
            del d["sum"]
    facts = {"kind": "profiler", "events": len(events), "phases": phases, "categories": categories, "devices": devices, "kernels": kernels}
    facts["streams_with_kernels"] = len(streams)
    facts["memory_events"] = len(memory)
    facts["memory_events_time_sorted_in_file"] = in_file == sorted(in_file)
    if not phases:
        del facts["phases"]
    if not categories:
        del facts["categories"]
    if not devices:
        del facts["devices"]
    return facts


CATEGORIES = ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "none"]
ACTIONS = {1: "preexisting", 2: "create", 3: "version", 4: "destroy"}


def timeline_facts(rows):
    actions = dict.fromkeys(ACTIONS.values(), 0)
    by_category = dict.fromkeys(CATEGORIES, 0)
    end = dict.fromkeys(CATEGORIES, 0)
    total = peak = index = 0
    at_peak = dict(end)
    for i, (_, action, size, category) in enumerate(rows):
        actions[ACTIONS[action]] += 1
        by_category[CATEGORIES[category]] += 1
        end[CATEGORIES[category]] += size
        total += size
        if total > peak:
            peak, index, at_peak = total, i, dict(end)
    drop = lambda d: {k: v for k, v in d.items() if v >= 0}
    facts = {"kind": "memory_timeline_raw", "tuples": len(rows), "by_action": actions, "by_category": by_category}
    facts.update(peak=peak, peak_index=index, peak_by_category=drop(at_peak), end_by_category=drop(end))
    if total >= 0:
        facts["end"] = total
    return facts


def snapshot_facts(top):
    segments = top["segments"] if isinstance(top, dict) else top
    traces = top["device_traces"] if isinstance(top, dict) else []
    blocks = [b for s in segments for b in s["blocks"]]
    facts = {"kind": "snapshot", "segments": len(segments), "blocks": len(blocks), "devices": {}}
    facts["reserved"] = sum(s["total_size"] for s in segments)
    facts["allocated"] = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
    facts["active"] = sum(b["size"] for b in blocks if b["state"] != "inactive")
    for device, trace in enumerate(traces):
        if not trace:
            continue
        actions = counts(entry["action"] for entry in trace)
        facts["devices"][str(device)] = {"events": len(trace), "actions": actions}
        sizes = [entry.get("size", 0) for entry in trace if entry["action"] == "alloc"]
        sizes = [size for size in sizes if size < LARGE]
        if sizes:
            facts["devices"][str(device)].update(alloc_bytes_total=sum(sizes), alloc_bytes_largest=max(sizes))
    facts["blocks_by_state"] = counts(b["state"] for b in blocks)
    facts["segments_by_type"] = counts(s["segment_type"] for s in segments)
    facts["expandable"] = sum(s.get("is_expandable", False) for s in segments)
    if blocks and all("requested_size" in b for b in blocks):
        facts["requested"] = sum(b["requested_size"] for b in blocks if b["state"] != "inactive")
    if not isinstance(top, dict):
        return facts
    facts["top_keys"] = list(top)
    if "external_annotations" in top:
        facts["external_annotations"] = len(top["external_annotations"])
    if top.get("host_segments") or top.get("host_traces"):
        facts["host_segments"] = len(top["host_segments"])
        facts["host_reserved"] = sum(s["total_size"] for s in top["host_segments"])
        facts["host_events"] = len(top["host_traces"])
    return facts


def counts(names):
    found = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found


# --- a snapshot's segments, in the timeline that is made of it ---


def check_segments(path, top):
    """What stands at the end, with the pools it belongs to; pieces of reservations are shown otherwise."""
    segments = top["segments"] if isinstance(top, dict) else top
    if any(s.get("is_expandable") for s in segments):
        return
    run = subprocess.run([program, "convert", path, "-o", "-", "--format", "json"], capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{path}: convert: exit {run.returncode}: {run.stderr.decode()}")
    timeline = json.loads(run.stdout)
    if timeline["run"]["warnings"]:
        return  # something was repaired
    table = timeline["segments"]
    names = ["device", "address", "bytes", "pool_id[0]", "pool_id[1]", "small_pool", "free_event", "stream"]
    device, address, size, pool0, pool1, small, freed, stream = map(table["columns"].index, names)
    handles = [row[0] for row in timeline["streams"]["rows"]]
    got = {(r[device], r[address]): (r[size], (r[pool0], r[pool1]), r[small], handles[r[stream]]) for r in table["rows"] if r[freed] is None}
    want = {
        (s["device"], s["address"]): (s["total_size"], tuple(s.get("segment_pool_id", (0, 0))), s["segment_type"] == "small", s["stream"])
        for s in segments
    }
    for key in want.keys() | got.keys():
        if want.get(key) != got.get(key):
            sys.exit(f"{path}: segment {key} is {got.get(key)}, expected {want.get(key)}")


def bytes_of(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    return (gzip.open if path.endswith(".gz") else open)(path, "rb").read()


def facts_of(path):
    data = bytes_of(path)
    if not data.lstrip()[:1] in (b"{", b"["):
        top = pickle.loads(data)
        check_segments(path, top)
        return snapshot_facts(top)
    top = load(data)
    if isinstance(top, dict) or (top and isinstance(top[0], dict)):
        return profile_facts(top)
    return timeline_facts(top)


# --- made files ---


def any_text(r):
    return "".join(r.choice(["a", "Z", " ", "é", "中", "\U0001f600", '"', "\\", "/", "\n", "\t"]) for _ in range(r.randrange(12)))


def any_value(r, depth=0):
    kind = r.randrange(7 if depth < 4 else 5)
    if kind == 5:
        return [any_value(r, depth + 1) for _ in range(r.randrange(4))]
    if kind == 6:
        return {any_text(r): any_value(r, depth + 1) for _ in range(r.randrange(4))}
    return [None, r.random() < 0.5, r.randrange(-(10**6), 10**15), r.random() * 10 ** r.randrange(-8, 20), any_text(r)][kind]


def shuffled(r, d):
    items = list(d.items())
    r.shuffle(items)
    return dict(items)


def memory_event(r):
    args = {"Device Type": r.choice([0, 1, 1, 1]), "Device Id": r.choice([-1, 0, 0, 1]), "Bytes": r.choice([1, -1]) * r.choice([r.randrange(10**6), 512, 1024])}
    if r.random() < 0.8:
        args["Addr"] = r.choice([r.randrange(64) * 512, r.randrange(1 << 47)])
    if r.random() < 0.8:
        args["Total Allocated"] = r.randrange(10**9)
        args["Total Reserved"] = r.randrange(10**10)
    if r.random() < 0.9:
        args["Ev Idx"] = r.randrange(100)
    if r.random() < 0.1:
        args[r.choice(["Bytes", "Device Type"])] = r.choice([None, 1.5, "1", [1], {"Bytes": 7}])
    if r.random() < 0.2:
        args[any_text(r)] = any_value(r)
    event = {"name": "[memory]", "ph": "i", "pid": 1, "tid": 1, "ts": r.choice([r.randrange(1000), round(r.random() * 1000, 3)]), "args": shuffled(r, args)}
    if r.random() < 0.7:
        event["cat"] = "cpu_instant_event"
    return event


def any_event(r):
    if r.random() < 0.4:
        return shuffled(r, memory_event(r))
    event = {"name": any_text(r), "ph": r.choice("XiMsf"), "pid": r.choice([1, "Spans"]), "tid": r.choice([1, 2, "stream 7"]), "ts": r.randrange(1000)}
    if r.random() < 0.9:
        event["cat"] = r.choice(["cpu_op", "kernel", "Kernel", "user_annotation", "ac2g"])
    if event["ph"] == "X" and r.random() < 0.9:
        event["dur"] = r.choice([r.randrange(100), 0.5])
    if r.random() < 0.7:
        event["args"] = r.choice([{"stream": r.randrange(4), "device": r.randrange(2), "grid": [1, 2, 3]}, {any_text(r): any_value(r)}])
    if r.random() < 0.1:
        event[any_text(r) + "x"] = any_value(r)
    return shuffled(r, event)


def make_profile(r, path):
    top = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": any_text(r), "totalGlobalMem": 1 << 34}], "x" + any_text(r): any_value(r)}
    top["traceEvents"] = [any_event(r) for _ in range(r.randrange(80))]
    dump = {"ensure_ascii": r.random() < 0.5, "indent": r.choice([None, None, 1, "\t"])}
    text = json.dumps(top, **dump).encode()
    (gzip.open if path.endswith(".gz") else open)(path, "wb").write(text)


def make_timeline(r, path):
    rows, time = [], 0
    for _ in range(r.randrange(60)):
        time += r.randrange(1000)
        size, category = r.randrange(10**6), r.randrange(8)
        action = r.choice([1, 2, 3, 4])
        if action == 3:
            rows += [[time, 3, -size, category], [time, 3, size, r.randrange(8)]]
        else:
            rows.append([-1 if action == 1 else time, action, -size if action == 4 else size, category])
    rows = rows or [[1, 2, 512, 0]]
    open(path, "w").write(json.dumps(rows, separators=r.choice([(",", ":"), (", ", ": ")])))


def made_frames(r):
    return [{"name": any_text(r), "filename": r.choice(["model.py", "<string>", any_text(r)]), "line": r.randrange(500)} for _ in range(r.randrange(4))]


def newest_fields(r, entry):
    """What releases from 2.8 on add; any may be missing, and there may be more."""
    fields = {
        "compile_context": r.choice(["N/A", "0/1"]),
        "user_metadata": r.choice(["", "note", {"step": 3, any_text(r): 1}]),
        "internal_metadata": "mallocWithAddress",
        "forward_frames": [any_text(r) for _ in range(r.randrange(3))],
        "category": r.choice(["parameter", "activation"]),
        "z" + any_text(r): any_value(r),
    }
    for key, value in fields.items():
        if r.random() < 0.4:
            entry[key] = value
    if r.random() < 0.8:
        entry["frames"] = made_frames(r)
    return entry


def make_segment(r, device, address, trace, time):
    small = r.random() < 0.4
    pool, stream, size, blocks = r.choice([(0, 0), (0, 1), (7, 0)]), r.choice([0, 0, 0x7F00]), 0, []
    total = 2 << 20 if small else r.choice([20 << 20, 34 << 20])

    def entry(action, at, size):
        time[0] += r.randrange(50)
        trace.append(newest_fields(r, {"action": action, "addr": at, "size": size, "stream": stream, "time_us": time[0], "pool_id": pool}))

    if r.random() < 0.7:
        entry("segment_alloc", address, total)
        traced = True
    else:
        traced = False
    while size < total:
        requested = r.randrange(1, 1 << 19 if small else 1 << 24)
        block = -(-requested // 512) * 512
        if size + block > total:
            break
        state = r.choice(["active_allocated", "active_allocated", "active_pending_free", "inactive"])
        if blocks and blocks[-1]["state"] == state == "inactive":
            state = "active_allocated"
        if state != "inactive" and traced:
            entry("alloc", address + size, requested)
            if state == "active_pending_free":
                entry("free_requested", address + size, requested)
        blocks.append({"address": address + size, "size": block, "requested_size": requested if state != "inactive" else 0, "state": state, "frames": made_frames(r)})
        size += block
    if size < total and blocks and blocks[-1]["state"] == "inactive":
        blocks[-1]["size"] += total - size
    elif size < total:
        blocks.append({"address": address + size, "size": total - size, "requested_size": 0, "state": "inactive", "frames": []})
    active = [b for b in blocks if b["state"] != "inactive"]
    segment = {"device": device, "address": address, "total_size": total, "stream": stream, "segment_type": "small" if small else "large"}
    segment["allocated_size"] = sum(b["size"] for b in active if b["state"] == "active_allocated")
    segment["active_size"] = sum(b["size"] for b in active)
    segment["requested_size"] = sum(b["requested_size"] for b in active)
    segment.update(segment_pool_id=pool, is_expandable=False, frames=made_frames(r), blocks=blocks)
    return segment


def make_snapshot(r, path, protocol):
    segments, traces, time = [], [[], []], [1796080440000000]
    for device in (0, 1):
        address = 1 << 40
        for _ in range(r.randrange(5)):
            segments.append(make_segment(r, device, address, traces[device], time))
            address += 1 << 30
        for _ in range(r.randrange(4)):
            fields = {"addr": address, "size": 1 << 21, "stream": 0, "time_us": time[0], "pool_id": (0, 0)}
            traces[device] += [{"action": action, **fields} for action in ("segment_alloc", "segment_free")]
            address += 1 << 30
    host, host_traces = [], []
    for i in range(r.randrange(3)):
        host.append({**make_segment(r, 0, (1 << 46) + i * (1 << 30), host_traces, time), "device": -1})
    top = {"segments": segments, "device_traces": traces}
    if r.random() < 0.8:
        top["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False, "max_split_size": -1, any_text(r): any_value(r)}
        top["external_annotations"] = [
            {"stage": stage, "name": f"step {i}", "device": r.randrange(2), "time_us": time[0] + i} for i in range(r.randrange(4)) for stage in ("START", "END")
        ]
    if r.random() < 0.8:
        top.update(host_segments=host, host_traces=host_traces)
    top[any_text(r) + "y"] = any_value(r)
    with open(path, "wb") as out:
        pickle.dump(top, out, protocol=protocol)


def check(path):
    compare(path, facts_of(path), info(path))


with tempfile.TemporaryDirectory() as folder:
    for i in range(count):
        r = random.Random(seed * 1000003 + i)
        path = os.path.join(folder, "profile.json" + r.choice(["", ".gz"]))
        make_profile(r, path)
        check(path)
        path = os.path.join(folder, "timeline.json")
        make_timeline(r, path)
        check(path)
        path = os.path.join(folder, "snapshot.pickle")
        make_snapshot(r, path, i % 6)
        check(path)
files = []
for path in sys.argv[4:]:
    files += sorted(glob.glob(os.path.join(path, "*.pickle*"))) if os.path.isdir(path) else [path]
if not shutil.which("zstd"):
    print("SKIPPED: files packed by zstd, as there is no zstd")
    files = [path for path in files if not path.endswith(".zst")]
for path in files:
    check(path)
print(f"{count} made files of each kind and {len(files)} others: what Python finds")
