/**
 * A device that answers only through promises: the asynchronous forms of all calls, and what those say that would have to wait.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCpu } from '../src/driver/cpu/index.ts';
import type { BlockingDriver, DeviceSide, HostSide, StridedCopy } from '../src/driver/driver.ts';
import {
  cuda,
  DeviceRecord,
  DriverError,
  f32,
  type i32,
  type Mat,
  NotSupportedError,
  ndarray,
  roc as rocNamespace,
  SmartArray,
  struct,
  type Vec,
} from '../src/index.ts';
import { Context } from '../src/memory/context.ts';
import { cudaDevices } from '../src/memory/devices.ts';
import { OpenDevice } from '../src/memory/open-device.ts';
import { rocDevices } from '../src/roc/devices.ts';
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

const twice = (): ReturnType<typeof cuda.jit<(x: Vec<i32>) => void>> =>
  cuda.jit((x: Vec<i32>) => {
    const i = cuda.grid(1);
    if (i < x.length) x[i] *= 2;
  });

/** The CPU device, whose copies to the host arrive some turns of the event loop later: as from a GPU that a thread can wait for. */
function lateDriver(): BlockingDriver {
  const driver = openCpu({ threads: 1 });
  return Object.assign(driver, {
    copyToHostLater: async (copy: StridedCopy<HostSide, DeviceSide>): Promise<void> => {
      await turns(8);
      driver.copyToHostStrided(copy);
    },
  });
}

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
    refuses(() => x.set(5), /an assignment would overtake/);
    refuses(() => x.copyToDevice(Int32Array.of(1, 2)), /a copy to the device would overtake/);
    refuses(() => x.copyToDevice(cuda.deviceArray(2, 'int32')), /a copy on the device would overtake/);
    refuses(() => kernel.launch({ threads: 2 }, x as never), /this launch of .* would overtake/);
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

describe('two namespaces on one device', () => {
  let roc: Context;
  let leaveRoc: () => void;

  beforeEach(() => {
    leave();
    const device = new OpenDevice(new PromiseDriver());
    context = new Context(device);
    leave = cudaDevices.enter(context);
    roc = new Context(device, { namespace: 'roc', readsWait: true });
    leaveRoc = rocDevices.enter(roc);
  });

  afterEach(() => {
    leaveRoc();
    roc.close();
  });

  it('have one order', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const same = rocNamespace.jit((y: Vec<i32>) => {
      const i = rocNamespace.getGlobalId(0);
      if (i < y.length) y[i] += 10;
    });
    await same.compileAsync(x as never);
    const first = twice().launchAsync({ threads: 2 }, x as never);
    const y = rocNamespace.deviceArray(2, 'int32');
    refuses(() => y.copyToDevice(x), /would overtake/);
    refuses(() => same.launch({ threads: 2 }, x as never), /would overtake/);
    const second = same.launchAsync({ threads: 2 }, x as never);
    const third = twice().launchAsync({ threads: 2 }, x as never);
    await Promise.all([first, second, third]);
    expect(await x.copyToHostAsync()).toEqual(Int32Array.of(24, 28));
  });

  it('the device stays while one of them has it', async () => {
    await cuda.closeAsync();
    context.close();
    const y = rocNamespace.toDevice(Int32Array.of(3));
    expect(await y.getAsync(0)).toBe(3);
  });
});

describe('giving up a context', () => {
  const warnings = (): string[] => {
    const seen: string[] = [];
    vi.spyOn(process, 'emitWarning').mockImplementation((text) => void seen.push(String(text)));
    return seen;
  };
  const fails = (): ReturnType<typeof cuda.jit<(x: Vec<i32>) => void>> =>
    cuda.jit((x: Vec<i32>) => {
      x[cuda.grid(1) + 100] = 1;
    });
  const driver = (): PromiseDriver => context.driver as PromiseDriver;

  afterEach(() => {
    vi.restoreAllMocks();
    process.exitCode = undefined;
    leave();
    context = new Context(new PromiseDriver());
    leave = cudaDevices.enter(context);
  });

  it('close() leaves enqueued work to be done, and the device open until then', async () => {
    const stream = cuda.stream();
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const kernel = twice();
    await kernel.compileAsync(x as never);
    const host = new Int32Array(2);
    kernel.launch({ threads: 2, stream }, x as never);
    const copied = x.copyToHostAsync(host, { stream });
    copied.catch(() => undefined);
    const closing = vi.spyOn(driver(), 'close');
    context.close();
    expect(closing).not.toHaveBeenCalled();
    expect(() => x.copyToDevice(host)).toThrow(/context was closed/);
    await context.closeAsync();
    expect(closing).toHaveBeenCalledOnce();
    expect(driver().busy).toBe(0);
    expect(host).toEqual(Int32Array.of(2, 4));
    await expect(copied).rejects.toMatchObject({ code: 'E_CONTEXT_CLOSED' });
  });

  it('close() warns of what failed and nobody was told of', async () => {
    const seen = warnings();
    const x = cuda.deviceArray(4, 'int32');
    const kernel = fails();
    await kernel.compileAsync(x as never);
    kernel.launch({ threads: 1, stream: cuda.stream() }, x as never);
    kernel.launch({ threads: 1, stream: cuda.stream() }, x as never);
    context.close();
    await context.closeAsync();
    expect(seen).toHaveLength(2);
    for (const text of seen)
      expect(text).toMatch(/work failed before its context was given up: .*(out of bounds|index)/is);
    expect(process.exitCode).toBe(1);
  });

  it('closeAsync() lets the calls before it come to their end', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const launched = twice().launchAsync({ threads: 2 }, x as never);
    const copied = x.copyToHostAsync();
    await context.closeAsync();
    await launched;
    expect(await copied).toEqual(Int32Array.of(2, 4));
    expect(context.closed).toBe(true);
    await context.closeAsync();
  });

  it('a launch that waits for its turn rejects when its context is closed or reset', async () => {
    for (const [give, code] of [
      [() => context.reset(), 'E_CONTEXT_RESET'],
      [() => context.close(), 'E_CONTEXT_CLOSED'],
    ] as const) {
      const x = cuda.toDevice(Int32Array.of(1, 2));
      const first = twice().launchAsync({ threads: 2 }, x as never);
      const second = x.copyToHostAsync();
      give();
      await expect(first).rejects.toMatchObject({ code });
      await expect(second).rejects.toMatchObject({ code });
    }
  });

  it('reset() frees in the order of the device, and what comes next is as on a fresh one', async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const kernel = twice();
    await kernel.compileAsync(x as never);
    const host = new Int32Array(2);
    const stream = cuda.stream();
    kernel.launch({ threads: 2, stream }, x as never);
    const copied = x.copyToHostAsync(host, { stream });
    context.reset();
    expect(cuda.memoryStats().live).toBe(0);
    const y = cuda.toDevice(Int32Array.of(5));
    expect(() => x.copyToDevice(host)).toThrow(/context was reset/);
    await copied;
    expect(host).toEqual(Int32Array.of(2, 4));
    expect(await y.getAsync(0)).toBe(5);
  });

  it('resetAsync() lets the calls before it come to their end, and warns of what nobody was told of', async () => {
    const seen = warnings();
    const x = cuda.toDevice(Int32Array.of(1, 2));
    const launched = twice().launchAsync({ threads: 2 }, x as never);
    const copied = x.copyToHostAsync();
    const bad = fails();
    await bad.compileAsync(x as never);
    await launched;
    bad.launch({ threads: 1 }, x as never);
    await context.resetAsync();
    expect(await copied).toEqual(Int32Array.of(2, 4));
    expect(seen.join()).toMatch(/work failed before its context was given up/);
    expect(() => x.copyToDevice(Int32Array.of(1, 2))).toThrow(/context was reset/);
    const y = cuda.toDevice(Int32Array.of(5));
    expect(await y.getAsync(0)).toBe(5);
    await cuda.synchronizeAsync();
  });
});

describe('host arrays that a launch has yet to fill', () => {
  it('are copied to no device, and are what later launches begin with', async () => {
    const kernel = twice();
    const x = Int32Array.of(1, 2, 3);
    await kernel.compileAsync(cuda.toDevice(x) as never);
    const first = kernel.launchAsync({ threads: 3 }, cuda.InOut(x) as never);
    const d = cuda.deviceArray(3, 'int32');
    refuses(
      () => d.copyToDevice(x),
      /a copy to the device reads host memory that a launchAsync has yet to fill.*await the launchAsync/,
    );
    refuses(() => cuda.toDevice(x.subarray(2)), /yet to fill/);
    const other = Int32Array.of(7, 8, 9);
    d.copyToDevice(other);
    const second = kernel.launchAsync({ threads: 3 }, cuda.InOut(x) as never);
    await Promise.all([first, second]);
    expect([...x]).toEqual([4, 8, 12]);
    d.copyToDevice(x);
    expect(await d.getAsync(2)).toBe(12);
  });

  it('hold up calls of a device that a thread could wait for', async () => {
    leave();
    const device = new Context(lateDriver());
    leave = cudaDevices.enter(device);
    const kernel = twice();
    const stream = cuda.stream();
    const x = Int32Array.of(1, 2, 3);
    const d = cuda.toDevice(x);
    const first = kernel.launchAsync({ threads: 3, stream }, cuda.InOut(x) as never);
    refuses(
      () => kernel.launch({ threads: 3 }, cuda.InOut(x) as never),
      /this launch of .* takes host memory .* yet to fill/,
    );
    const second = kernel.launchAsync({ threads: 3, stream }, cuda.InOut(x) as never);
    refuses(() => cuda.synchronize(), /synchronize\(\) would overtake.*await the launchAsync/);
    refuses(() => stream.synchronize(), /stream\.synchronize\(\) would overtake/);
    refuses(() => d.copyToHost(), /copyToHost\(\) would overtake/);
    await Promise.all([first, second]);
    cuda.synchronize();
    expect([...x]).toEqual([4, 8, 12]);
    expect(d.copyToHost()).toEqual(Int32Array.of(1, 2, 3));
    device.close();
  });
});

describe('calls that would wait', () => {
  it('name what to call instead where an array comes from another dtype or device', async () => {
    const [x, y] = [cuda.toDevice(Int32Array.of(1, 2)), cuda.deviceArray(2, 'float64')];
    refuses(
      () => y.set(x),
      /set\(\) of an array of another dtype.*write array\.set\(await source\.copyToHostAsync\(\)\)/,
    );
    y.set(await x.copyToHostAsync());
    expect(await y.copyToHostAsync()).toEqual(Float64Array.of(1, 2));
    const other = new Context(new PromiseDriver());
    const leaveOther = cudaDevices.enter(other);
    const z = cuda.deviceArray(2, 'int32');
    refuses(
      () => z.copyToDevice(x),
      /copyToDevice\(\) of an array.*write array\.copyToDevice\(await source\.copyToHostAsync\(\)\)/,
    );
    z.copyToDevice(await x.copyToHostAsync());
    expect(await z.copyToHostAsync()).toEqual(Int32Array.of(1, 2));
    leaveOther();
    await other.closeAsync();
  });

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
