/**
 * A device that answers only through promises: the asynchronous forms of all calls, and what those say that would have to wait.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  cuda,
  DeviceRecord,
  DriverError,
  f32,
  type i32,
  type Mat,
  NotSupportedError,
  ndarray,
  SmartArray,
  struct,
  type Vec,
} from '../src/index.ts';
import { Context } from '../src/memory/context.ts';
import { cudaDevices } from '../src/memory/devices.ts';
import { PromiseDriver, turns } from './support/promise-driver.ts';

let context: Context;
let leave: () => void;

beforeEach(() => {
  context = new Context(new PromiseDriver());
  leave = cudaDevices.enter(context);
});

afterEach(async () => {
  await cuda.synchronizeAsync();
  leave();
  context.close();
});

const twice = (): ReturnType<typeof cuda.jit<[Vec<i32>]>> =>
  cuda.jit((x: Vec<i32>) => {
    const i = cuda.grid(1);
    if (i < x.length) x[i] *= 2;
  });

/** What a call that would wait says instead. */
function refuses(call: () => unknown, instead: RegExp): void {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(NotSupportedError);
  expect((thrown as NotSupportedError).code).toBe('E_NO_WAIT');
  expect((thrown as NotSupportedError).message).toMatch(instead);
}

describe('asynchronous forms', () => {
  it('launch, and copy device arrays of each kind', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5));
    await twice().launchAsync({ threads: 5 }, x as never);
    expect(await x.copyToHostAsync()).toEqual(Int32Array.of(2, 4, 6, 8, 10));
    expect(await x.slice([1, 4]).copyToHostAsync()).toEqual(Int32Array.of(4, 6, 8));
    expect(await x.slice([null, null, 2]).copyToHostAsync()).toEqual(Int32Array.of(2, 6, 10));
    const into = new Int32Array(5);
    expect(await x.copyToHostAsync(into)).toBe(into);
    expect(into[4]).toBe(10);
    expect(await x.getAsync(-1)).toBe(10);
    x.set(7, [0, 2]);
    expect([...(await x.copyToHostAsync())]).toEqual([7, 7, 6, 8, 10]);
  });

  it('copy records and their members', async () => {
    const point = struct({ x: f32, y: f32 });
    const record = cuda.toDevice({ x: 1, y: 2 }, { dtype: point });
    expect(record).toBeInstanceOf(DeviceRecord);
    expect(await record.copyToHostAsync()).toEqual({ x: 1, y: 2 });
    record.set('y', 5);
    expect(await record.getAsync('y')).toBe(5);
  });

  it('stage host arrays, and copy back what the kernel writes', async () => {
    const x = Int32Array.of(1, 2, 3);
    const strided = ndarray(Int32Array.from({ length: 8 }, (_, k) => k)).reshape(4, 2);
    const column = strided.slice(':', 1);
    await twice().launchAsync({ threads: 3 }, cuda.InOut(x) as never);
    expect([...x]).toEqual([2, 4, 6]);
    await twice().launchAsync({ threads: 4 }, cuda.InOut(column) as never);
    expect([...(strided.data as Int32Array)]).toEqual([0, 2, 2, 6, 4, 10, 6, 14]);
  });

  it('stage for the device of the call when another one is selected while the kernel is compiled', async () => {
    const x = Int32Array.of(1, 2, 3);
    const launched = twice().launchAsync({ threads: 3 }, cuda.InOut(x) as never);
    const other = new Context(new PromiseDriver());
    cudaDevices.enter(other);
    await launched;
    cudaDevices.enter(context);
    expect([...x]).toEqual([2, 4, 6]);
    expect(other.memoryStats().allocations).toBe(0);
    other.close();
  });

  it('compile once for those who ask at the same time, and launch at once afterwards', async () => {
    const kernel = twice();
    const x = cuda.toDevice(Int32Array.of(1));
    await Promise.all([kernel.compileAsync(x as never), kernel.compileAsync(x as never)]);
    expect(kernel.stats.specialisations).toHaveLength(1);
    kernel.launch({ threads: 1 }, x as never);
    kernel.launch({ threads: 1 }, x as never);
    expect(await x.getAsync(0)).toBe(4);
  });

  it('compile again when the kernel is recompiled or the context reset meanwhile', async () => {
    let factor = 2;
    const kernel = cuda.jit((x: Vec<i32>) => {
      if (cuda.grid(1) < x.length) x[cuda.grid(1)] *= factor;
    });
    const x = cuda.toDevice(Int32Array.of(1));
    const compiled = kernel.compileAsync(x as never);
    factor = 5;
    kernel.recompile();
    await compiled;
    kernel.launch({ threads: 1 }, x as never);
    expect(await x.getAsync(0)).toBe(5);
    expect(kernel.stats.specialisations).toHaveLength(1);
  });

  it('compile what a signature says before the first launch', async () => {
    const kernel = cuda.jit(
      (x: Vec<i32>) => {
        if (cuda.grid(1) < x.length) x[cuda.grid(1)] += 1;
      },
      { signature: 'void(int32[:])' },
    );
    await turns(8);
    const x = cuda.toDevice(Int32Array.of(1));
    kernel.launch({ threads: 1 }, x as never);
    expect(await x.getAsync(0)).toBe(2);
  });

  it('wait for streams, events and the device', async () => {
    const [stream, event] = [cuda.stream(), cuda.event()];
    const x = cuda.toDevice(Int32Array.of(1, 2), { stream });
    await twice().launchAsync({ threads: 2, stream }, x as never);
    event.record(stream);
    expect(event.query()).toBe(false);
    expect(await event.done()).toBe(event);
    expect(event.query()).toBe(true);
    x.copyToDevice(Int32Array.of(8, 9), { stream });
    expect(stream.query()).toBe(false);
    expect(await stream.done()).toBe(stream);
    expect(await x.copyToHostAsync({ stream })).toEqual(Int32Array.of(8, 9));
    x.set(3);
    await cuda.synchronizeAsync();
    expect(stream.query()).toBe(true);
  });

  it('wait for an event that is disposed meanwhile', async () => {
    const event = cuda.event();
    cuda.toDevice(Int32Array.of(1));
    event.record();
    const done = event.done();
    event.dispose();
    await expect(done).resolves.toBe(event);
  });

  it('refresh the host side of smart arrays', async () => {
    const a = new SmartArray(Int32Array.of(1, 2, 3));
    const host = a.get('host');
    await twice().launchAsync({ threads: 3 }, a as never);
    // Somebody has it in hand: it is as the kernel left it.
    expect([...(host.data as Int32Array)]).toEqual([2, 4, 6]);
    const b = new SmartArray(Int32Array.of(1, 2, 3));
    const kernel = twice();
    await kernel.compileAsync(b as never);
    kernel.launch({ threads: 3 }, b as never);
    refuses(() => b.get('host'), /await array\.getAsync\('host'\)/);
    const after = await b.getAsync();
    expect([...(after.data as Int32Array)]).toEqual([2, 4, 6]);
    expect(b.at(1)).toBe(4);
  });

  it('reject with what went wrong in a kernel, once, and go on', async () => {
    const kernel = cuda.jit((x: Vec<i32>) => {
      x[cuda.grid(1) + 100] = 1;
    });
    const x = cuda.deviceArray(4, 'int32');
    await expect(kernel.launchAsync({ threads: 1 }, x as never)).rejects.toThrow(/out of bounds|index/i);
    await cuda.synchronizeAsync();
    kernel.launch({ threads: 1 }, x as never);
    await expect(cuda.synchronizeAsync()).rejects.toBeInstanceOf(DriverError);
    kernel.launch({ threads: 1 }, x as never);
    await expect(cuda.defaultStream().done()).rejects.toBeInstanceOf(DriverError);
    x.set(1);
    expect([...(await x.copyToHostAsync())]).toEqual([1, 1, 1, 1]);
  });

  it('leave memory to work that is enqueued', async () => {
    const sum = cuda.jit((out: Vec<i32>, m: Mat<i32>) => {
      let total = 0;
      for (let k = 0; k < m.shape[1]; k++) total += m[0][k];
      out[0] = total;
    });
    const out = cuda.deviceArray(1, 'int32');
    const m = cuda.toDevice(ndarray(Int32Array.of(1, 2, 3)).reshape(1, 3));
    await sum.compileAsync(out as never, m as never);
    sum.launch({ threads: 1 }, out as never, m as never);
    m.dispose();
    cuda.deviceArray(3, 'int32').set(100);
    expect(await out.getAsync(0)).toBe(6);
    expect(cuda.memoryStats().synchronizations).toBe(0);
  });

  it('free within scope(), with leaks found and cleanup deferred', async () => {
    const tracker = cuda.trackLeaks();
    cuda.deferCleanup(() => {
      const kept = cuda.deviceArray(16, 'int32');
      kept.set(1);
      kept.dispose();
    });
    const leaked = cuda.deviceArray(4, 'int32');
    expect(tracker.leaks().map(({ bytes }) => bytes)).toEqual([16]);
    leaked.dispose();
    tracker.dispose();
    await cuda.synchronizeAsync();
    expect(cuda.memoryStats().live).toBe(0);
  });
});

describe('order', () => {
  it('asynchronous calls take their turn after a launch that is being compiled', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const launched = twice().launchAsync({ threads: 2 }, x as never);
    const copied = x.copyToHostAsync();
    const again = twice().launchAsync({ threads: 2 }, x as never);
    const last = x.getAsync(1);
    await Promise.all([launched, again]);
    expect(await copied).toEqual(Int32Array.of(2, 4));
    expect(await last).toBe(8);
  });

  it('calls that would overtake it are refused', async () => {
    const kernel = twice();
    const x = cuda.toDevice(Int32Array.of(1, 2));
    await kernel.compileAsync(x as never);
    const launched = twice().launchAsync({ threads: 2 }, x as never);
    refuses(() => x.set(5), /overtake/);
    refuses(() => x.copyToDevice(Int32Array.of(1, 2)), /overtake/);
    refuses(() => kernel.launch({ threads: 2 }, x as never), /overtake/);
    await launched;
    x.set(5);
    expect(await x.getAsync(0)).toBe(5);
  });

  it('arrays may be disposed while their kernel is compiled', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const view = x.slice('1:');
    const launched = twice().launchAsync({ threads: 1 }, view as never);
    view.dispose();
    await launched;
    expect(await x.getAsync(1)).toBe(4);
    x.dispose();
    const y = cuda.toDevice(Int32Array.of(1));
    const last = twice().launchAsync({ threads: 1 }, y as never);
    y.dispose();
    expect(cuda.memoryStats().live).toBe(4);
    await last;
    expect(cuda.memoryStats().live).toBe(0);
  });

  it('a launch that cannot be compiled holds up nobody', async () => {
    const bad = cuda.jit((x: Vec<i32>) => {
      x[0] = JSON.stringify(x) as never;
    });
    const x = cuda.toDevice(Int32Array.of(1));
    await expect(bad.launchAsync({ threads: 1 }, x as never)).rejects.toThrow(/JSON/);
    await twice().launchAsync({ threads: 1 }, x as never);
    expect(await x.getAsync(0)).toBe(2);
  });
});

describe('calls that would wait', () => {
  it('name what to call instead', async () => {
    const x = cuda.toDevice(Int32Array.of(1));
    const kernel = twice();
    refuses(() => x.copyToHost(), /await array\.copyToHostAsync\(\)/);
    refuses(() => x.get(0), /await array\.getAsync/);
    refuses(() => cuda.synchronize(), /await cuda\.synchronizeAsync\(\)/);
    refuses(() => cuda.stream().synchronize(), /await stream\.done\(\)/);
    refuses(() => cuda.event().synchronize(), /await event\.done\(\)/);
    refuses(() => kernel.launch({ threads: 1 }, x as never), /compileAsync.*launchAsync/);
    refuses(() => kernel.compile(x as never), /compileAsync/);
    refuses(() => kernel.launch({ threads: 1 }, cuda.InOut(Int32Array.of(1)) as never), /launchAsync/);
    await kernel.compileAsync(x as never);
    refuses(() => kernel.launch({ threads: 1, timeout: 5 }, x as never), /launchAsync/);
  });
});
