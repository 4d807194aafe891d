/**
 * Launches that are wider than an OpenCL device takes at once: made in parts, with a limit that is low enough to run them here.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openclProvider } from '../src/driver/opencl/index.ts';
import { hasOpenCL, openTestDevice } from '../src/driver/opencl/opencl.testing.ts';
import { cuda, i32, type Vec } from '../src/index.ts';
import { registerProvider } from '../src/memory/providers.ts';

/** Threads along an axis, where nothing else is said. */
const MOST = 20;

describe.runIf(hasOpenCL())('a launch that is too wide for the device', { timeout: 300_000 }, () => {
  let enqueued = 0;
  let mostAlong: number | undefined = MOST;
  beforeAll(() => {
    registerProvider({
      ...openclProvider,
      open: () => {
        const device = openTestDevice({ mostAlong });
        const { cl } = device.context;
        const enqueue = cl.clEnqueueNDRangeKernel;
        Object.assign(cl, {
          clEnqueueNDRangeKernel: (...args: Parameters<typeof enqueue>) => {
            enqueued++;
            return enqueue(...args);
          },
        });
        return device;
      },
    });
    cuda.selectDevice('opencl');
  });
  afterAll(() => cuda.close());

  /** How many launches of the device `run` makes. */
  const launches = (run: () => void): number => {
    const before = enqueued;
    run();
    return enqueued - before;
  };

  it('runs every block once, which sees its place in the whole grid along each axis', () => {
    const [grid, block] = [
      [7, 6, 5],
      [4, 4, 4],
    ] as const;
    const places = cuda.jit((out: Vec<i32>) => {
      const { blockIdx: b, gridDim: g, threadIdx: t } = cuda;
      const number = (b.z * g.y + b.y) * g.x + b.x;
      cuda.atomic.add(out, 5 * number, 1);
      if (t.x === 0 && t.y === 0 && t.z === 0) {
        out[5 * number + 1] = b.x + 10 * b.y + 100 * b.z;
        out[5 * number + 2] = g.x + 10 * g.y + 100 * g.z;
        const [x, y, z] = cuda.grid(3);
        out[5 * number + 3] = x + 100 * y + 10000 * z;
        out[5 * number + 4] = cuda.gridSize(1);
      }
    });
    const blocks = 7 * 6 * 5;
    const out = cuda.toDevice(new Int32Array(5 * blocks));
    // 5 blocks along each axis.
    expect(launches(() => places.launch({ grid, block }, out))).toBe(2 * 2 * 1);
    const expected = Array.from({ length: blocks }).flatMap((_, k) => {
      const [x, y, z] = [k % 7, Math.floor(k / 7) % 6, Math.floor(k / 42)];
      return [64, x + 10 * y + 100 * z, 567, 4 * (x + 100 * y + 10000 * z), 28];
    });
    expect([...out.copyToHost()]).toEqual(expected);
  });

  it('keeps to the order of a stream, with barriers, shared memory of both kinds, and arrays that are parts of others', () => {
    const reversed = cuda.jit((a: Vec<i32>) => {
      const fixed = cuda.shared.array(8, i32);
      const dynamic = cuda.shared.array(0, i32);
      const [t, i] = [cuda.threadIdx.x, cuda.grid(1)];
      fixed[t] = a[i];
      cuda.syncThreads();
      dynamic[t] = fixed[7 - t];
      cuda.syncThreads();
      a[i] = dynamic[t] + cuda.blockIdx.x;
    });
    const stream = cuda.stream();
    const memory = cuda.toDevice(Int32Array.from({ length: 100 }, (_, k) => k));
    const part = memory.slice([10, 90]);
    for (let k = 0; k < 2; k++) {
      expect(launches(() => reversed.launch({ grid: 10, block: 8, sharedBytes: 32, stream }, part as never))).toBe(5);
    }
    stream.synchronize();
    const expected = Array.from({ length: 100 }, (_, k) => (k < 10 || k >= 90 ? k : k + 2 * Math.floor((k - 10) / 8)));
    expect([...memory.copyToHost()]).toEqual(expected);
  });

  it('names the place of a fault, and prints, as one launch', () => {
    const walk = cuda.jit(
      (a: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i === 85) console.log('here is', cuda.blockIdx.x);
        a[i] = i;
      },
      { name: 'walk', boundsCheck: true },
    );
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const a = cuda.toDevice(new Int32Array(93));
    expect(launches(() => walk.launch({ grid: 12, block: 8 }, a))).toBe(6);
    expect(() => cuda.synchronize()).toThrow(/^kernel walk: .*93.* at block \(11,0,0\), thread \([567],0,0\).*12.*/s);
    expect(log.mock.calls).toEqual([['here is', 10]]);
    log.mockRestore();
  });

  it('is one launch as before where it fits', () => {
    const set = cuda.jit((a: Vec<i32>) => {
      a[cuda.grid(1)] = cuda.gridDim.x;
    });
    const a = cuda.toDevice(new Int32Array(24));
    expect(launches(() => set.launch({ grid: 5, block: 4 }, a))).toBe(1);
    expect(launches(() => set.launch({ grid: 6, block: 4 }, a))).toBe(2);
    expect(launches(() => set.launch({ grid: 5, block: 4 }, a))).toBe(1);
    expect([...a.copyToHost()]).toEqual(Array.from({ length: 24 }, (_, k) => (k < 20 ? 5 : 6)));
  });

  it('has 2 ** 32 threads or more, where nobody lowers the limit', () => {
    cuda.close();
    mostAlong = undefined;
    cuda.selectDevice('opencl');
    const blocks = 2 ** 22;
    const count = cuda.jit((a: Vec<i32>) => {
      const past = cuda.blockIdx.x - 4194302;
      if (cuda.threadIdx.x === 0 && past >= 0) cuda.atomic.add(a, past, 1);
    });
    const a = cuda.toDevice(new Int32Array(8));
    expect(launches(() => count.launch({ grid: blocks - 1, block: 1024 }, a))).toBe(1);
    expect(launches(() => count.launch({ grid: blocks + 4, block: 1024 }, a))).toBe(2);
    expect([...a.copyToHost()]).toEqual([2, 1, 1, 1, 1, 1, 0, 0]);
    cuda.close();
    mostAlong = MOST;
    cuda.selectDevice('opencl');
  });

  it('is refused where blocks wait for each other', () => {
    const meet = cuda.jit((a: Vec<i32>) => {
      a[cuda.grid(1)] = 1;
      cuda.cg.thisGrid().sync();
    });
    const a = cuda.toDevice(new Int32Array(24));
    expect(() => meet.launch({ grid: 6, block: 4 }, a)).toThrow(expect.objectContaining({ code: 'E_COOPERATIVE' }));
  });
});
