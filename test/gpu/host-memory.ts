/**
 * Pinned, mapped, managed and registered memory on a GPU: that copies are fast, that both sides see the same bytes, and that
 * TypedArrays over memory that was given back never end the process.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { cuda, f32, i32, type Vec } from '../../src/index.ts';
import { same, sameElements } from '../../testsuite/assert.ts';
import { RandomPlay } from '../../testsuite/memory-host-random.ts';
import { runTask, startTask } from './child.ts';
import type { GpuModule } from './suite.ts';

const MIB = 2 ** 20;

function scale() {
  return cuda.jit((a: Vec<f32>, factor: number) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = a[k] * factor + k;
  });
}

/** GB/s of the best of some runs. */
function rate(bytes: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < 6; k++) {
    const began = performance.now();
    run();
    best = Math.min(best, performance.now() - began);
  }
  return bytes / best / 1e6;
}

function bandwidth(): string {
  const n = 32 * MIB;
  using device = cuda.deviceArray(n, f32);
  using pinned = cuda.pinnedArray(n, f32);
  const plain = new Float32Array(n).fill(1);
  pinned.set(1);
  const rates = [
    rate(4 * n, () => device.copyToDevice(pinned)),
    rate(4 * n, () => void device.copyToHost(pinned)),
    rate(4 * n, () => device.copyToDevice(plain)),
  ];
  cuda.pinned(plain, () => {
    rates.push(rate(4 * n, () => device.copyToDevice(plain)));
  });
  const [up = 0, down = 0, pageable = 0, registered = 0] = rates;
  same(up > 20 && down > 20, true, `pinned copies of ${up.toFixed(1)} and ${down.toFixed(1)} GB/s are fast`);
  same(registered > 20, true, `copies from registered memory, ${registered.toFixed(1)} GB/s, are fast`);
  return `GB/s: to the device ${up.toFixed(1)}, back ${down.toFixed(1)}; pageable ${pageable.toFixed(1)}; registered ${registered.toFixed(1)}`;
}

function mappedBothWays(): void {
  const kernel = scale();
  for (const options of [{}, { portable: true }, { writeCombined: true }]) {
    using a = cuda.mappedArray(1000, f32, options);
    a.set(2);
    kernel.launch({ threads: 1000 }, a, 3);
    cuda.synchronize();
    sameElements(
      a.toArray(),
      Float32Array.from({ length: 1000 }, (_, k) => 6 + k),
    );
    using part = a.slice('990::-10') as typeof a;
    kernel.launch({ threads: part.size }, part, 0);
    cuda.synchronize();
    same(a.get(990), 0);
    same(a.get(980), 1);
    same(a.get(981), 6 + 981);
  }
}

function managedBothWays(): void {
  const kernel = scale();
  using a = cuda.managedArray(4 * MIB, f32);
  for (let round = 1; round <= 3; round++) {
    a.set(round);
    kernel.launch({ threads: a.size }, a, 2);
    cuda.synchronize();
    same(a.get(0), 2 * round);
    same(a.get(1000), 2 * round + 1000);
  }
  using stream = cuda.stream();
  kernel.launch({ threads: a.size, stream }, a, 0);
  stream.synchronize();
  same(a.get(4 * MIB - 1), 4 * MIB - 1);
}

function registered(): void {
  const kernel = scale();
  const host = new Float32Array(100_000).fill(1);
  for (let round = 0; round < 20; round++) {
    cuda.mapped(host, ([d]) => {
      kernel.launch({ threads: host.length }, d, 0);
      cuda.synchronize();
      same(host[99_999], 99_999);
      same(d.get(5), 5);
    });
    host.fill(1);
  }
  // Small arrays lie on one page; views of one buffer overlap; the same array comes twice and is nested.
  const small = Array.from({ length: 40 }, (_, k) => new Float32Array(20).fill(k));
  cuda.mapped(...small, (arrays) => {
    for (const d of arrays) kernel.launch({ threads: 20 }, d as never, 2);
    cuda.synchronize();
    small.forEach((a, k) => {
      sameElements(
        a,
        Float32Array.from({ length: 20 }, (_, j) => 2 * k + j),
        `small array ${k}`,
      );
    });
    cuda.pinned(...small, small[3], () => {
      cuda.mapped(small[3].subarray(5), small[3], ([tail]) => {
        kernel.launch({ threads: 15 }, tail, 0);
        cuda.synchronize();
        same(small[3][6], 1);
      });
    });
  });
  cuda.pinned(...small, () => undefined);
}

function disposedInFlight(): void {
  const n = 8 * MIB;
  const streams = [cuda.stream(), cuda.stream(), cuda.stream()];
  const devices = streams.map((stream, k) => {
    const device = cuda.deviceArray(n, i32);
    const pinned = cuda.pinnedArray(n, i32);
    pinned.set(k + 1);
    for (let round = 0; round < 4; round++) device.copyToDevice(pinned, { stream });
    pinned.dispose();
    return device;
  });
  cuda.currentContext().deallocations.clear();
  streams.forEach((stream, k) => {
    stream.synchronize();
    same(devices[k].get(n - 1), k + 1);
    devices[k].dispose();
    stream.dispose();
  });
  const host = new Int32Array(n).fill(9);
  const stream = cuda.stream();
  const device = cuda.deviceArray(n, i32);
  cuda.pinned(host, () => device.copyToDevice(host, { stream }));
  host.fill(0);
  stream.synchronize();
  same(device.get(0), 9);
  device.dispose();
  stream.dispose();
}

/** The driver refuses copies that leave a range that it has pinned: nobody who pins a part should have to know. */
function partlyPinned(): void {
  const n = 1 << 18;
  const host = Float32Array.from({ length: n }, (_, k) => k);
  using device = cuda.deviceArray(n, f32);
  using stream = cuda.stream();
  cuda.pinned(host.subarray(1000, 5000), host.subarray(5000, 9000), host.subarray(n - 100), () => {
    device.copyToDevice(host);
    same(device.get(n - 1), n - 1);
    device.set(0);
    device.slice('500:6000').copyToDevice(host.subarray(500, 6000), { stream });
    stream.synchronize();
    same(device.get(500), 500);
    same(device.get(5999), 5999);
    device.slice('::2').copyToDevice(host.subarray(0, n / 2));
    same(device.get(12_000), 6000);
    device.set(3);
    device.copyToHost(host, { stream });
    stream.synchronize();
    same(host[4999], 3);
    same(host[0], 3);
    device.slice('::2').copyToHost(host.subarray(0, n / 2));
  });
}

/** Collects garbage now. */
function collectNow(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Random operations for a while: results are checked throughout, and nothing grows. */
async function soak(): Promise<string> {
  const context = cuda.currentContext();
  const settled = async (): Promise<{ heap: number; free: number }> => {
    for (let k = 0; k < 3; k++) {
      collectNow();
      await new Promise((resolve) => setTimeout(resolve, 10));
      cuda.synchronize();
      context.deallocations.clear();
    }
    const { heapUsed, external } = process.memoryUsage();
    return { heap: heapUsed + external, free: context.memoryInfo().free };
  };
  let [rounds, start] = [0, await settled()];
  const until = performance.now() + 15_000;
  while (performance.now() < until) {
    new RandomPlay(1000 + rounds).run(100);
    if (++rounds % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    if (rounds === 100) start = await settled();
  }
  const end = await settled();
  const grown = { heap: (end.heap - start.heap) / MIB, device: (start.free - end.free) / MIB };
  same(grown.heap < 30 && grown.device < 100, true, `${JSON.stringify(grown)} MiB more`);
  return `${rounds} rounds of 100 operations; ${grown.heap.toFixed(1)} MiB more on the heap, ${grown.device.toFixed(0)} on the device`;
}

function rss(): number {
  return process.memoryUsage().rss;
}

function leavesNothing(): string {
  const pending = cuda.currentContext().deallocations;
  const before = { rss: rss(), free: cuda.currentContext().memoryInfo().free };
  for (let k = 0; k < 300; k++) {
    cuda.pinnedArray(MIB, f32).dispose();
    cuda.mappedArray(MIB, f32).dispose();
    cuda.managedArray(MIB, f32).dispose();
  }
  pending.clear();
  const grown = rss() - before.rss;
  const lost = before.free - cuda.currentContext().memoryInfo().free;
  if ('transfer' in ArrayBuffer.prototype) {
    same(grown < 400 * MIB, true, `${(grown / MIB).toFixed(0)} MiB more in the process after 3.6 GB of arrays`);
  }
  return `${(grown / MIB).toFixed(0)} MiB more in the process, ${(lost / MIB).toFixed(0)} MiB less on the device`;
}

/** Reads and writes TypedArrays whose memory was given back in every way there is. */
async function oldSubarrays(): Promise<void> {
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
  const kept: Float32Array[] = [];
  const touch = (): void => {
    for (const a of kept) {
      if (a.length > 0) a[a.length - 1] = a[0] + 1;
      try {
        a.slice(0, 10);
      } catch {
        // What is detached may throw.
      }
    }
  };
  const makers = [cuda.pinnedArray, cuda.mappedArray, cuda.managedArray];
  for (let round = 0; round < 3; round++) {
    for (const make of makers) {
      const disposed = make(MIB, f32);
      kept.push(disposed.data.subarray(10, MIB - 10));
      disposed.dispose();
      // Dropped without dispose: the array goes, the TypedArray stays.
      kept.push(make(MIB, f32).data.subarray(5));
    }
    const host = new Float32Array(1000);
    cuda.mapped(host, () => undefined);
    kept.push(host.subarray(1));
    cuda.currentContext().deallocations.clear();
    for (let k = 0; k < 4; k++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    cuda.currentContext().deallocations.clear();
    touch();
  }
  cuda.currentContext().reset();
  touch();
  cuda.close();
  collect();
  await new Promise((resolve) => setTimeout(resolve, 50));
  touch();
  cuda.deviceArray(10, f32).dispose();
  touch();
  console.log(`touched ${kept.length}, ${kept.filter((a) => a.length === 0).length} of them empty`);
}

async function oldSubarraysElsewhere(): Promise<string> {
  const child = startTask('old subarrays', {}, ['--expose-gc']);
  const line = await child.line();
  same(await child.ended, 0, 'the process ends well');
  return `Node ${process.version}: ${line}`;
}

await runTask({ 'old subarrays': oldSubarrays });

export const hostMemory: GpuModule = {
  chapter: 'nvidia host memory',
  tests: [
    { name: 'pinned copies are fast', run: bandwidth },
    { name: 'mapped arrays are written by kernels and read by the host', run: mappedBothWays },
    { name: 'managed arrays are used from both sides in turn', run: managedBothWays },
    { name: 'arrays are registered again and again, nested, and side by side on a page', run: registered },
    { name: 'pinned arrays disposed while copies are in flight', run: disposedInFlight },
    { name: 'copies of arrays that are pinned in part', run: partlyPinned },
    { name: 'random operations do not make memory grow', run: soak },
    { name: 'nothing is left behind', run: leavesNothing },
    { name: 'old subarrays of memory that was given back do not crash', run: oldSubarraysElsewhere },
  ],
};
