"""check_fake.py: vramsim.py with the stand-in of fake/torch.py: what it calls and when. Runs itself once a release."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))


def run_new(folder):
    import torch
    import vramsim

    r = vramsim.record(os.path.join(folder, "x.pickle"), max_entries=7)
    model = r.watch(torch.Model())
    r.watch(torch.Model())  # backward is wrapped once
    for batch in r.steps(["a", "b"]):
        model(batch)
        torch.Tensor().backward(gradient=batch)
    try:
        model(None)
    except RuntimeError:
        pass
    torch._C.observer(0, 100, 0, 0)
    torch._C.observer(0, 200, 0, 0)  # the first file stays
    with r.phase("loss"):
        pass
    r.stop()
    r.stop()
    steps = [[("begin", "step %d" % i), ("begin", "forward"), ("end", "forward"), ("begin", "backward"), ("backward", b),
              ("end", "backward"), ("end", "step %d" % i)] for i, b in ((1, "a"), (2, "b"))]
    assert torch.calls == [("init",), ("record", "all", "alloc", "python", 7, True), *steps[0], *steps[1],
                           ("begin", "forward"), ("end", "forward"), ("dump", "x.oom.pickle"), ("begin", "loss"),
                           ("end", "loss"), ("dump", "x.pickle"), ("record", None, "all", "all", 0, False)], torch.calls


def run_old(folder):
    import torch
    import vramsim

    os.environ["RANK"] = "3"
    vramsim.record(os.path.join(folder, "y"))
    assert torch.calls == [("init",), ("record", "all", "python", 10_000_000)], torch.calls


def run_late(folder):
    import vramsim

    vramsim.record(os.path.join(folder, "z.pickle"))


def child(name, folder):
    environment = {**os.environ, "FAKE_TORCH": name,
                   "PYTHONPATH": os.path.join(here, "fake") + os.pathsep + os.path.join(here, "../../trace/python")}
    return subprocess.run([sys.executable, "-B", __file__, name, folder], env=environment, check=True, text=True,
                          capture_output=True)


if len(sys.argv) == 3:
    {"new": run_new, "old": run_old, "late": run_late}[sys.argv[1]](sys.argv[2])
else:
    with tempfile.TemporaryDirectory() as folder:
        told = child("new", folder).stderr
        assert "out of memory: a request of 100 bytes on device 0" in told and "200 bytes" not in told, told
        assert sorted(os.listdir(folder)) == ["x.oom.pickle", "x.pickle"], os.listdir(folder)
        child("old", folder)
        assert "y.rank3.pickle" in os.listdir(folder), "written at the end of the program"
        assert "memory was taken before" in child("late", folder).stderr
    print("ok")
