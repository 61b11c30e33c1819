"""gpu_step.py OUT.json [forever.json]: training steps of a small transformer, phases as NVTX ranges, and what PyTorch says of its memory.

"forever.json" as OUT goes on until it is killed.
"""

import json
import sys
import time

import torch
from torch import nn


def main() -> None:
    out = sys.argv[1] if len(sys.argv) > 1 else "step.json"
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    model = nn.TransformerEncoder(layer, 8).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch = torch.randn(8, 512, 1024, device="cuda")
    seconds, step = [], 0
    while step < 12 or out == "forever.json":
        torch.cuda.synchronize()
        start = time.perf_counter()
        torch.cuda.nvtx.range_push(f"step {step}")
        torch.cuda.nvtx.range_push("forward")
        loss = model(batch).square().mean()
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("backward")
        loss.backward()
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("optimizer")
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
        step += 1
    result = {
        "seconds": sorted(seconds[2:])[len(seconds[2:]) // 2],
        "max_allocated": torch.cuda.max_memory_allocated(),
        "max_reserved": torch.cuda.max_memory_reserved(),
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file)


main()
