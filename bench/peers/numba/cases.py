"""The kernels of the NVIDIA benchmark in numba-cuda, with the data, checks and timing of bench/nvidia.

    python3 cases.py --runs 50 saxpy:24 matmul:3 ...

Names come with the number of launches between two events. Prints JSON on the last line. Literals are np.float32, as a bare
one would make Numba compute in double precision.
"""
import json
import math
import sys

import numpy as np

np.row_stack = np.vstack  # numba-cuda 0.30 asks for it, NumPy 2.5 has it no more.
from numba import cuda, float32, int32  # noqa: E402
from numba.cuda import libdevice  # noqa: E402

F = np.float32


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


TILE = 16


@cuda.jit
def matmul(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = F(0)
    for start in range(0, A.shape[1], TILE):
        a[ty, tx] = A[y, start + tx]
        b[ty, tx] = B[start + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    C[y, x] = total


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((32, 33), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    left = cuda.blockIdx.x * 32
    top = cuda.blockIdx.y * 32
    for k in range(0, 32, 8):
        tile[ty + k, tx] = source[top + ty + k, left + tx]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        target[left + ty + k, top + tx] = tile[tx, ty + k]


FIFTH = F(0.2)


@cuda.jit
def stencil(source, target):
    x, y = cuda.grid(2)
    rows, columns = source.shape
    if y > 0 and x > 0 and y < rows - 1 and x < columns - 1:
        target[y, x] = FIFTH * (
            source[y, x] + source[y - 1, x] + source[y + 1, x] + source[y, x - 1] + source[y, x + 1]
        )


BLOCK = 256
GRID = 1056


@cuda.jit
def reduce(x, partial):
    shared = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    total = F(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    shared[t] = total
    cuda.syncthreads()
    half = BLOCK >> 1
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = shared[0]


@cuda.jit
def histogram(x, bins):
    mine = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, mine[t])


LIMIT = 500
TWO = F(2)
FOUR = F(4)


@cuda.jit
def mandelbrot(counts, left, top, step):
    x, y = cuda.grid(2)
    if x >= counts.shape[1] or y >= counts.shape[0]:
        return
    cr = left + F(x) * step
    ci = top + F(y) * step
    re = F(0)
    im = F(0)
    n = int32(0)
    while n < LIMIT and re * re + im * im <= FOUR:
        following = re * re - im * im + cr
        im = TWO * re * im + ci
        re = following
        n += int32(1)
    counts[y, x] = n


SOFTENING = F(1e-3)


@cuda.jit
def nbody(x, y, z, m, ax, ay, az):
    sx = cuda.shared.array(BLOCK, float32)
    sy = cuda.shared.array(BLOCK, float32)
    sz = cuda.shared.array(BLOCK, float32)
    sm = cuda.shared.array(BLOCK, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    px = x[i]
    py = y[i]
    pz = z[i]
    fx = F(0)
    fy = F(0)
    fz = F(0)
    for start in range(0, x.size, BLOCK):
        sx[t] = x[start + t]
        sy[t] = y[start + t]
        sz[t] = z[start + t]
        sm[t] = m[start + t]
        cuda.syncthreads()
        for k in range(BLOCK):
            dx = sx[k] - px
            dy = sy[k] - py
            dz = sz[k] - pz
            r = libdevice.rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING)
            s = sm[k] * r * r * r
            fx += s * dx
            fy += s * dy
            fz += s * dz
        cuda.syncthreads()
    ax[i] = fx
    ay[i] = fy
    az[i] = fz


ONE = F(1)
K0 = F(0.2316419)
K1, K2, K3, K4, K5 = F(0.31938153), F(-0.356563782), F(1.781477937), F(-1.821255978), F(1.330274429)
ROOT = F(0.39894228)
HALF = F(-0.5)
RATE = F(0.02)
VOLATILITY = F(0.3)
DRIFT = F(F(0.02) + F(0.5) * F(0.3) * F(0.3))


@cuda.jit(device=True)
def normal(d):
    k = ONE / (ONE + K0 * abs(d))
    w = ROOT * math.exp(HALF * d * d) * (k * (K1 + k * (K2 + k * (K3 + k * (K4 + k * K5)))))
    return ONE - w if d > F(0) else w


@cuda.jit
def black_scholes(price, strike, years, call, put):
    i = cuda.grid(1)
    if i >= price.size:
        return
    s = price[i]
    x = strike[i]
    t = years[i]
    root = math.sqrt(t)
    d1 = (math.log(s / x) + DRIFT * t) / (VOLATILITY * root)
    d2 = d1 - VOLATILITY * root
    n1 = normal(d1)
    n2 = normal(d2)
    discounted = x * math.exp(-RATE * t)
    call[i] = s * n1 - discounted * n2
    put[i] = discounted * (ONE - n2) - s * (ONE - n1)


# ---------------------------------------------------------------- data, checks, timing


def hashed(n, seed):
    i = np.arange(seed, seed + n, dtype=np.uint32)
    return ((i * np.uint32(2654435761)) >> np.uint32(8)).astype(np.float32) / F(2**24)


def matrix(n, seed):
    return cuda.to_device(hashed(n * n, seed).reshape(n, n))


def set_up(name):
    """What launches the kernel, and the arrays with its results; None for a case that is not here."""
    if name == 'saxpy':
        n = 2**26
        x, y = cuda.to_device(hashed(n, 1)), cuda.to_device(hashed(n, 2))
        run = saxpy[n // 256, 256]
        return lambda: run(F(1e-3), x, y), [y]
    if name == 'matmul':
        n = 2048
        a, b, c = matrix(n, 1), matrix(n, 2), cuda.device_array((n, n), np.float32)
        run = matmul[(n // TILE, n // TILE), (TILE, TILE)]
        return lambda: run(a, b, c), [c]
    if name == 'transpose':
        n = 8192
        a, b = matrix(n, 1), cuda.device_array((n, n), np.float32)
        run = transpose[(n // 32, n // 32), (32, 8)]
        return lambda: run(a, b), [b]
    if name == 'stencil':
        n = 8192
        a, b = matrix(n, 1), matrix(n, 2)
        run = stencil[(n // 32, n // 8), (32, 8)]
        return lambda: run(a, b), [b]
    if name == 'reduce':
        x, partial = cuda.to_device(hashed(2**26, 1)), cuda.device_array(GRID, np.float32)
        run = reduce[GRID, BLOCK]
        return lambda: run(x, partial), [partial]
    if name == 'histogram':
        x = cuda.to_device((hashed(2**26, 1) * F(256)).astype(np.uint8))
        bins = cuda.to_device(np.zeros(256, np.int32))
        run = histogram[GRID, BLOCK]
        return lambda: run(x, bins), [bins]
    if name == 'mandelbrot':
        n = 4096
        counts = cuda.device_array((n, n), np.int32)
        run = mandelbrot[(n // 16, n // 16), (16, 16)]
        return lambda: run(counts, F(-2), F(-1.25), F(2.5 / n)), [counts]
    if name == 'nbody':
        n = 65536
        x, y, z, m = (cuda.to_device(hashed(n, 1000 * k)) for k in (1, 2, 3, 4))
        ax, ay, az = (cuda.device_array(n, np.float32) for _ in range(3))
        run = nbody[n // BLOCK, BLOCK]
        return lambda: run(x, y, z, m, ax, ay, az), [ax, ay, az]
    if name == 'blackscholes':
        n = 2**24
        price = cuda.to_device(F(5) + F(25) * hashed(n, 1))
        strike = cuda.to_device(F(1) + F(99) * hashed(n, 2000))
        years = cuda.to_device(F(0.25) + F(9.75) * hashed(n, 3000))
        call, put = cuda.device_array(n, np.float32), cuda.device_array(n, np.float32)
        run = black_scholes[n // 256, 256]
        return lambda: run(price, strike, years, call, put), [call, put]
    return None


def check(outputs):
    """Sum and samples of each output."""
    numbers = []
    for output in outputs:
        host = output.copy_to_host().reshape(-1)
        places = (np.arange(256, dtype=np.uint32) * np.uint32(2654435761)).astype(np.int64) % host.size
        numbers += [float(host.sum(dtype=np.float64)), *host[places].astype(np.float64).tolist()]
    return numbers


def timed(launch, launches, runs):
    """Milliseconds a launch, of each run."""
    start, end = cuda.event(), cuda.event()
    times = []
    for k in range(-3, runs):
        start.record()
        for _ in range(launches):
            launch()
        end.record()
        end.synchronize()
        if k >= 0:
            times.append(cuda.event_elapsed_time(start, end) / launches)
    return times


def main(args):
    runs = int(args[args.index('--runs') + 1]) if '--runs' in args else 50
    results = {}
    for name, launches in (arg.split(':') for arg in args if ':' in arg):
        found = set_up(name)
        if found is None:
            continue
        launch, outputs = found
        launch()
        cuda.synchronize()
        numbers = check(outputs)
        results[name] = {'check': numbers, 'ms': timed(launch, int(launches), runs)}
    import numba
    import numba_cuda

    versions = {'python': sys.version.split()[0], 'numba': numba.__version__, 'numba-cuda': numba_cuda.__version__}
    print(json.dumps({'results': results, 'versions': versions}))


if __name__ == '__main__':
    main(sys.argv[1:])
