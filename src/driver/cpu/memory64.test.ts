/** Kernels before and after the device has moved into a 64-bit memory. Runs where the engine has such memories (Node 24). */
import { describe, expect, it } from 'vitest';
import { add, at, atomic, i32, KernelBuilder, load, mul, special, store } from '../../compiler/ir/builder.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { HostMemory, LaunchShape } from '../driver.ts';
import { openCpu } from './index.ts';
import { hasMemory64 } from './memory.ts';

const MIB = 2 ** 20;

/** y[i] = x[i] + table[threadIdx.x & 3], and a count of all threads. */
function kernel(): Kernel {
  const b = new KernelBuilder('k');
  const [x, y, total] = [b.global('i32', 'x'), b.global('i32', 'y'), b.global('i32', 'total')];
  const table = b.constants('i32', 'table', new Uint8Array(new Int32Array([10, 20, 30, 40]).buffer));
  const i = add(mul(special('blockIdx.x'), special('blockDim.x')), special('threadIdx.x'));
  const entry = load(at(table, special('threadIdx.x')));
  return b.build([store(at(y, i), add(load(at(x, i)), entry)), atomic('add', at(total, i32(0)), [i32(1)])]);
}

describe.skipIf(!hasMemory64())('a device in 64-bit memory', () => {
  it.each([
    [1, 1],
    [4, 1],
    [4, 3],
  ] as const)('runs kernels loaded before the move: %i lanes, %i threads', (lanes, threads) => {
    const device = openCpu({ maxPages: 1024, lanes, threads, alwaysParallel: threads > 1, scalarFirst: false });
    const executable = device.load({ kernel: kernel() });
    const shape: LaunchShape = { grid: [1000, 1, 1], block: [4, 1, 1], sharedBytes: 0 };
    const bytes = 4 * 4000;
    const x = Number(device.allocate(bytes));
    const total = Number(device.allocate(4));
    device.copyToDevice(x, new Uint8Array(Int32Array.from({ length: 4000 }, (_, i) => i).buffer));
    device.copyToDevice(total, new Uint8Array(4));
    const expected = Int32Array.from({ length: 4000 }, (_, i) => i + 10 * ((i % 4) + 1));
    const check = (y: number): void => {
      executable.launch(shape, [x, y, total], undefined);
      const back = new Int32Array(4000);
      device.copyToHost(new Uint8Array(back.buffer), y);
      expect(back).toEqual(expected);
    };
    check(Number(device.allocate(bytes)));
    if (threads > 1) device.engine.pool?.awaitReady(threads - 1, 20_000);
    check(Number(device.allocate(bytes)));
    expect(device.engine.memory.memory64).toBe(false);
    // Does not fit into 64 MiB: the device moves, and high addresses lie beyond 4 GiB.
    const high = Array.from({ length: 3 }, () => Number(device.allocate(1500 * MIB)));
    expect(device.engine.memory.memory64).toBe(true);
    expect(Math.max(...high)).toBeGreaterThan(2 ** 31);
    check(Number(device.allocate(bytes)));
    const last = Number(device.allocate(bytes));
    expect(last).toBeGreaterThan(2 ** 32);
    check(last);
    if (threads > 1) device.engine.pool?.awaitReady(threads - 1, 20_000);
    check(last);
    const count = new Int32Array(1);
    device.copyToHost(new Uint8Array(count.buffer), total);
    expect(count[0]).toBe(5 * 4000);
    device.close();
  });

  it('keeps mapped memory the same on both sides, though the host still sees the memory of before', () => {
    const device = openCpu({ maxPages: 1024, lanes: 1, threads: 1 });
    const executable = device.load({ kernel: kernel() });
    const shape: LaunchShape = { grid: [1000, 1, 1], block: [4, 1, 1], sharedBytes: 0 };
    const [x, y, total] = [
      device.allocateHost(16_000, { kind: 'mapped' }),
      device.allocateHost(16_000, { kind: 'managed' }),
      device.allocateHost(4, { kind: 'mapped' }),
    ] as const;
    const seen = ({ bytes }: HostMemory): Int32Array =>
      new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const [input, output, count] = [seen(x), seen(y), seen(total)];
    const args = [Number(x.pointer), Number(y.pointer), Number(total.pointer)] as const;
    const run = (start: number): void => {
      input.forEach((_, i, all) => {
        all[i] = start + i;
      });
      executable.launch(shape, args, undefined);
      expect([output[0], output[3999]]).toEqual([start + 10, start + 3999 + 40]);
    };
    run(1);
    const big = device.allocate(1500 * MIB);
    expect(device.engine.memory.memory64).toBe(true);
    run(2);
    expect(count[0]).toBe(8000);
    device.copyToDevice(args[1], new Uint8Array(Int32Array.of(77).buffer));
    expect(output[0]).toBe(77);
    output[0] = 78;
    const back = new Int32Array(1);
    device.copyToHost(new Uint8Array(back.buffer), args[1]);
    expect(back[0]).toBe(78);
    for (const memory of [x, y, total]) device.freeHost(memory);
    device.free(big);
    device.close();
  });
});
