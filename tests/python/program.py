"""program.py OUT [oom]: the training of docs/recording.md under vramsim.py, for check_torch.sh."""
import sys

import vramsim

recorder = vramsim.record(sys.argv[1])

import torch  # noqa: E402
from torch import nn  # noqa: E402

model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
recorder.watch(model)
optimizer = torch.optim.AdamW(model.parameters())
x, y = torch.zeros(256, 784, device="cuda"), torch.zeros(256, dtype=torch.int64, device="cuda")


def step():
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


for _ in recorder.steps(range(3)):
    step()
if sys.argv[2:] == ["oom"]:
    torch.empty(1 << 45, device="cuda")
