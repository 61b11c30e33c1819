"""recipe.py whole|late FILE: the files of this folder: scenarios/mlp.lua's default steps in PyTorch, profiled.

whole: from the first allocation on, three steps, and export_memory_timeline of a second run of it with stacks;
late: two steps, after two that are not profiled. Run where `torch.cuda` is to be had."""
import sys
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

kind, file = sys.argv[1:]
torch.cuda.init()
torch.manual_seed(0)


def begin(with_stack=False):
    return profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=with_stack)


def make():
    model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = torch.zeros(256, 784, device="cuda"), torch.zeros(256, dtype=torch.int64, device="cuda")

    def step():
        with record_function("forward"):
            loss = nn.functional.cross_entropy(model(x), y)
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
        with record_function("zero_grad"):
            optimizer.zero_grad()

    return step


def run_whole(with_stack):
    with begin(with_stack) as p:
        step = make()
        for _ in range(3):
            step()
            p.step()
    return p


if kind == "whole":
    run_whole(False).export_chrome_trace(file)
elif kind == "timeline":
    run_whole(True).export_memory_timeline(file, device="cuda:0")
else:
    step = make()
    step()
    step()
    with begin() as p:
        step()
        step()
    p.export_chrome_trace(file)
