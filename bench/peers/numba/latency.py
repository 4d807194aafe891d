"""What Numba's calls cost: the first kernel of a process, later ones, a launch, an allocation. See bench/nvidia/latency.ts.

    python3 latency.py        (JSON on the last line; times in milliseconds, of launches and allocations in microseconds)
"""
import json
import statistics
import time

import numpy as np

np.row_stack = np.vstack  # numba-cuda 0.30 asks for it, NumPy 2.5 has it no more.
from numba import cuda  # noqa: E402

x = cuda.to_device(np.zeros(1024, np.float32))
cuda.synchronize()


def make(gain):
    def kernel(a, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = a * y[i] + gain

    return cuda.jit(kernel)


def first_run(kernel):
    began = time.perf_counter()
    kernel[4, 256](np.float32(2), x)
    cuda.synchronize()
    return (time.perf_counter() - began) * 1e3


first = first_run(make(np.float32(1)))
later = [first_run(make(np.float32(2 + k))) for k in range(4)]


@cuda.jit
def nothing(a, b, c, k):
    if k > np.float32(1e30):
        a[0] = b[0] + c[0]


run = nothing[1, 32]
three = np.float32(3)
run(x, x, x, three)
cuda.synchronize()
issue, total = [], []
for _ in range(40):
    began = time.perf_counter()
    for _ in range(500):
        run(x, x, x, three)
    issued = time.perf_counter()
    cuda.synchronize()
    issue.append((issued - began) / 500 * 1e6)
    total.append((time.perf_counter() - began) / 500 * 1e6)

allocate = []
for _ in range(20):
    began = time.perf_counter()
    for _ in range(500):
        a = cuda.device_array(1024, np.float32)
        del a
    allocate.append((time.perf_counter() - began) / 500 * 1e6)

print(
    json.dumps(
        {
            'firstKernel': first,
            'laterKernel': statistics.median(later),
            'launchIssue': statistics.median(issue),
            'launchTotal': statistics.median(total),
            'allocate': statistics.median(allocate),
        }
    )
)
