"""Records a PyTorch program's GPU memory so that vramsim reads all of it.

    import vramsim
    recorder = vramsim.record("run.pickle")     # before the model is built
    model = ...
    recorder.watch(model)                       # its forward, and every backward, become phases
    for step in recorder.steps(range(10)):
        ...

From the first allocation on, with stacks; phases named; written at the program's end, and at an out-of-memory, caught or
not, to run.oom.pickle. One file, the standard library and torch alone: copy it beside a program, or set PYTHONPATH. Each
rank of a distributed run writes its own file (run.rank3.pickle).
"""

import atexit
import contextlib
import inspect
import os
import sys


def record(path="vramsim.pickle", max_entries=10_000_000, stacks="python"):
    """Begins to record. max_entries must hold the whole run: some 15,000 a step of a 7B model. stacks="all" adds those of
    C++, at some cost. Returns the Recorder."""
    return Recorder(path, max_entries, stacks)


class Recorder:
    def __init__(self, path, max_entries, stacks):
        import torch

        self._torch = torch
        self._done = False
        self._ooms = 0
        rank = os.environ.get("RANK")
        root, ending = os.path.splitext(path)
        self._root = os.path.abspath(root + (".rank" + rank if rank else ""))
        self._ending = ending or ".pickle"
        torch.cuda.init()
        if torch.cuda.memory_reserved() > 0:
            self._say("memory was taken before: record() goes before the first tensor, or its beginning is not seen")
        # Releases differ in what can be asked for; what one does not know it does by itself or cannot do.
        wanted = {"max_entries": max_entries, "stacks": stacks, "context": "alloc", "global_record_annotations": True}
        begin = torch.cuda.memory._record_memory_history
        known = inspect.signature(begin).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
        begin(**{name: value for name, value in wanted.items() if takes_all or name in known})
        with contextlib.suppress(AttributeError):  # a release without it: the end is written all the same
            torch._C._cuda_attach_out_of_memory_observer(self._on_oom)
        atexit.register(self.stop)

    def phase(self, name):
        """A phase, as `with recorder.phase("loss"):`. vramsim finds steps by forward, backward, optimizer, zero_grad."""
        return self._torch.profiler.record_function(name)

    def steps(self, iterable):
        """The iterable, each turn of its loop a phase "step N"."""
        for number, item in enumerate(iterable, 1):
            with self.phase("step %d" % number):
                yield item

    def watch(self, model):
        """Makes a phase "forward" of the model's calls and one "backward" of every tensor.backward(). PyTorch itself marks
        optimizer.step() and zero_grad(). Returns the model."""
        phases = []

        def before(module, inputs):
            phases.append(self.phase("forward"))
            phases[-1].__enter__()

        def after(module, inputs, output):
            if phases:
                phases.pop().__exit__(None, None, None)

        model.register_forward_pre_hook(before)
        if "always_call" in inspect.signature(model.register_forward_hook).parameters:
            model.register_forward_hook(after, always_call=True)  # an out-of-memory ends the phase, too
        else:
            model.register_forward_hook(after)
        self._wrap_backward()
        return model

    def dump(self, path=None):
        """Writes what was recorded so far. Returns the path."""
        path = path or self._root + self._ending
        self._torch.cuda.memory._dump_snapshot(path)
        return path

    def stop(self):
        """Writes the file and stops recording. At the program's end this is done anyway."""
        if self._done:
            return
        self._done = True
        self._torch.cuda.synchronize()
        path = self.dump()
        self._torch.cuda.memory._record_memory_history(enabled=None)
        self._say("%s: vramsim %s reports on it" % (path, os.path.basename(path)))

    def _wrap_backward(self):
        tensor, phase = self._torch.Tensor, self.phase
        plain = tensor.backward
        if getattr(plain, "vramsim", False):
            return

        def backward(self, *arguments, **options):
            with phase("backward"):
                return plain(self, *arguments, **options)

        backward.vramsim = True
        tensor.backward = backward

    # The file of the first failure stays; a program that tries smaller batches fails often.
    def _on_oom(self, device, alloc, device_alloc, device_free):
        self._ooms += 1
        if self._ooms == 1 and not self._done:
            path = self.dump(self._root + ".oom" + self._ending)
            self._say("out of memory: a request of %d bytes on device %d; %s" % (alloc, device, path))

    @staticmethod
    def _say(text):
        print("vramsim: " + text, file=sys.stderr)
