"""A stand-in for what vramsim.py calls of PyTorch: writes down the calls. FAKE_TORCH: "old" is a release that knows fewer
arguments and has no observer."""
import contextlib
import os
import sys
import types

calls = []
old = os.environ.get("FAKE_TORCH") == "old"
late = os.environ.get("FAKE_TORCH") == "late"


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


def record_new(enabled="all", context="all", stacks="all", max_entries=0, *, global_record_annotations=False):
    calls.append(("record", enabled, context, stacks, max_entries, global_record_annotations))


def record_old(enabled="all", stacks="all", max_entries=0):
    calls.append(("record", enabled, stacks, max_entries))


def dump(path):
    calls.append(("dump", os.path.basename(path)))
    open(path, "wb").close()


@contextlib.contextmanager
def record_function(name):
    calls.append(("begin", name))
    try:
        yield
    finally:
        calls.append(("end", name))


memory = module("torch.cuda.memory", _record_memory_history=record_old if old else record_new, _dump_snapshot=dump)
cuda = module("torch.cuda", memory=memory, init=lambda: calls.append(("init",)), synchronize=lambda: None,
              memory_reserved=lambda: 512 if late else 0)
profiler = module("torch.profiler", record_function=record_function)
_C = module("torch._C")
if not old:
    _C._cuda_attach_out_of_memory_observer = lambda call: setattr(_C, "observer", call)


class Tensor:
    def backward(self, gradient=None):
        calls.append(("backward", gradient))


class Model:
    """One that is called as nn.Module is: hooks around forward, those with always_call after an error, too."""

    def __init__(self):
        self.before, self.after = [], []

    def register_forward_pre_hook(self, hook):
        self.before.append(hook)

    def register_forward_hook(self, hook, *, always_call=False):
        self.after.append(hook)

    def __call__(self, x):
        for hook in self.before:
            hook(self, (x,))
        try:
            if x is None:
                raise RuntimeError("no input")
            return x
        finally:
            for hook in self.after:
                hook(self, (x,), x)
