import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LinkItem, LoadedCode } from '../../compiler/intrinsics/external.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { PtxModule } from '../../compiler/render/ptx/module.ts';
import { FAULTS } from '../../compiler/render/reports.ts';
import type { PrintSite } from '../../compiler/render/sites.ts';
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import { collectGarbage } from '../../memory/collect.ts';
import { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import type { Executable, LaunchShape } from '../driver.ts';
import { reportFault } from '../reporting.testing.ts';
import { deviceInfo as info } from './device.testing.ts';
import { NvidiaDriver } from './device.ts';
import { CUDA_VOCABULARY } from './result.ts';

const pos = { source: { text: 'throw', name: 'boom' }, start: 0, end: 1 };
const shape: LaunchShape = { grid: [2, 1, 1], block: [32, 1, 1], sharedBytes: 0 };

function kernelNamed(name: string): Kernel {
  const source = { text: '', name };
  return {
    name,
    params: [],
    arrays: [],
    vars: [],
    body: [],
    indexBits: 32,
    checked: true,
    contract: false,
    fastMath: false,
    pos: { source, start: 0, end: 0 },
  };
}

let number = 0;

/** A device over a model, with a kernel that faults when its flag says so. */
function open(more: Partial<PtxModule> = {}): {
  model: CudaModel;
  device: NvidiaDriver;
  load: (name: string) => Executable;
} {
  const model = new CudaModel(CUDA_VOCABULARY);
  const device = new NvidiaDriver(
    model.cuda,
    { device: 1000 + number++, info, memoryPools: true },
    {
      cubins: null,
      pipeline: {
        compile: (kernel, _target, { aliased }) => ({
          text: aliased ? `${kernel.name} aliased` : kernel.name,
          entry: kernel.name,
          params: [],
          launchNumber: 0,
          paramBytes: 4,
          extraSharedBytes: 0,
          sites: [{ kind: 'trap', pos, message: 'boom' }],
          faultSymbol: 'faults',
          prints: [],
          printSymbol: undefined,
          cooperative: false,
          usesReadOnlyPath: true,
          ...more,
        }),
      },
    },
  );
  const load = (name: string): Executable => device.load({ kernel: kernelNamed(name) });
  return { model, device, load };
}

/** A kernel that fails, and reports it as compiled code does. */
function faulting(model: CudaModel, name: string): (params: DataView) => void {
  return (params) => {
    const table = new DataView(model.ffi.view(model.global(name, 'faults'), FAULTS.bytes));
    reportFault(table, params.getUint32(0, true));
  };
}

function thrownBy(run: () => unknown): DriverError {
  try {
    run();
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

afterEach(() => vi.restoreAllMocks());

describe('code that a kernel is linked with', () => {
  it('is told when its module is loaded, and before it is unloaded', () => {
    const said: string[] = [];
    const notes = (what: string) => {
      return ({ handle, variable }: LoadedCode): void => {
        const at = variable('v')?.pointer === model.global('k', 'v');
        said.push(`${what} ${typeof handle} ${at} ${model.calls.at(-1)}`);
        model.results.set('cuModuleGetGlobal', 500);
        said.push(String(variable('w')));
        model.results.delete('cuModuleGetGlobal');
      };
    };
    const item: LinkItem = {
      kind: 'ptx',
      name: 'f.ptx',
      key: 'f',
      code: () => new Uint8Array(1),
      setup: notes('setup'),
      teardown: notes('teardown'),
    };
    const { model, device, load } = open({ link: [item] });
    const kernel = load('k');
    expect(said).toEqual(['setup bigint true cuModuleGetGlobal', 'undefined']);
    model.calls.length = 0;
    kernel.unload();
    expect(said.slice(2)).toEqual(['teardown bigint true cuModuleGetGlobal', 'undefined']);
    expect(model.calls.at(-1)).toBe('cuModuleUnload');
    device.close();
    expect(said).toHaveLength(4);
  });
});

describe('a stream', () => {
  it('with a high priority has the greatest that the device has', () => {
    const { model, device } = open();
    device.createStream('high');
    device.createStream('normal');
    device.createStream();
    expect(model.priorities).toEqual([-5]);
    device.close();
  });
});

describe('a profiler', () => {
  it('is told from where to where it records', () => {
    const { model, device } = open();
    model.calls.length = 0;
    device.profile(true);
    device.profile(false);
    expect(model.calls).toEqual(['cuProfilerStart', 'cuProfilerStop']);
    device.close();
  });
});

describe('faults of kernels', () => {
  it('are thrown by the call that waits, with block, thread and launch, once', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', faulting(model, 'k'));
    kernel.launch(shape, [], undefined);
    const error = thrownBy(() => device.synchronize());
    expect(error.code).toBe('E_KERNEL_FAULT');
    expect(error.message).toMatch(/^kernel k: boom at block \(1,0,0\), thread \(5,0,0\)\n {2}--> /);
    expect(error.message).toMatch(/launched with grid \[2, 1, 1\], block \[32, 1, 1\]$/);
    expect(error.stack).toMatch(/device\.test\.ts/);
    device.synchronize();
    // The next launch of the kernel is judged by itself.
    kernel.launch(shape, [], undefined);
    expect(thrownBy(() => device.synchronize()).code).toBe('E_KERNEL_FAULT');
    model.kernels.delete('k');
    kernel.launch(shape, [], undefined);
    device.synchronize();
  });

  it('belong to their stream, and to those that waited for it', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', faulting(model, 'k'));
    const [s, t, u] = [device.createStream(), device.createStream(), device.createStream()];
    kernel.launch(shape, [], s);
    device.synchronizeStream(t);
    const mark = device.createEvent(false);
    device.recordEvent(mark, s);
    device.waitEvent(mark, t);
    device.recordEvent(mark, t);
    device.waitEvent(mark, u);
    expect(thrownBy(() => device.synchronizeStream(u)).code).toBe('E_KERNEL_FAULT');
    device.synchronizeStream(s);
  });

  it('of two launches of one kernel on two streams are both told, the later first', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', faulting(model, 'k'));
    const [s, t] = [device.createStream(), device.createStream()];
    kernel.launch(shape, [], s);
    kernel.launch({ ...shape, grid: [3, 1, 1] }, [], t);
    // Nobody has looked before both have run.
    model.cuda.cuStreamSynchronize(Number(s.address));
    expect(thrownBy(() => device.synchronizeStream(t)).launch).toContain('grid [3, 1, 1]');
    expect(thrownBy(() => device.synchronizeStream(s)).launch).toContain('grid [2, 1, 1]');
    device.synchronize();
  });

  it('have a record for each launch, also where the numbers of two fall on the same one', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', faulting(model, 'k'));
    const [s, t, u] = [device.createStream(), device.createStream(), device.createStream()];
    kernel.launch(shape, [], s);
    const mark = device.createEvent(false);
    device.recordEvent(mark, u);
    // Each wait takes a number of its own.
    for (let k = 1; k < FAULTS.most; k++) device.waitEvent(mark, u);
    kernel.launch({ ...shape, grid: [3, 1, 1] }, [], t);
    model.cuda.cuStreamSynchronize(Number(s.address));
    expect(thrownBy(() => device.synchronizeStream(t)).launch).toContain('grid [3, 1, 1]');
    expect(thrownBy(() => device.synchronizeStream(s)).launch).toContain('grid [2, 1, 1]');
    device.synchronize();
  });

  it('after a mark are not the mark’s', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    const s = device.createStream();
    const mark = device.createEvent(false);
    kernel.launch(shape, [], s);
    device.recordEvent(mark, s);
    device.synchronizeEvent(mark);
    model.kernels.set('k', faulting(model, 'k'));
    kernel.launch(shape, [], s);
    expect(device.queryEvent(mark)).toBe(true);
    device.synchronizeEvent(mark);
    expect(thrownBy(() => device.synchronizeStream(s)).code).toBe('E_KERNEL_FAULT');
  });

  it('of a stream that is gone are thrown by what waited for it, and by the device', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', faulting(model, 'k'));
    const [s, t] = [device.createStream(), device.createStream()];
    const mark = device.createEvent(false);
    kernel.launch(shape, [], s);
    device.recordEvent(mark, s);
    device.waitEvent(mark, t);
    device.destroyStream(s);
    expect(thrownBy(() => device.synchronizeStream(t)).code).toBe('E_KERNEL_FAULT');
    const u = device.createStream();
    kernel.launch(shape, [], u);
    device.destroyStream(u);
    expect(thrownBy(() => device.synchronize()).code).toBe('E_KERNEL_FAULT');
  });

  it('are found however many launches there are', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.kernels.set('k', (params) => {
      if (params.getUint32(0, true) === 100) faulting(model, 'k')(params);
    });
    for (let k = 0; k < 3000; k++) kernel.launch(shape, [], undefined);
    // Their shapes and stacks are not remembered without end: now and then the records are looked at.
    expect(model.calls.filter((name) => name === 'cuCtxSynchronize')).toHaveLength(2);
    expect(thrownBy(() => device.synchronize()).code).toBe('E_KERNEL_FAULT');
  });

  it('cost nothing in kernels that cannot fault', () => {
    const { model, device, load } = open({ faultSymbol: undefined, launchNumber: undefined });
    load('k').launch(shape, [], undefined);
    model.calls.length = 0;
    device.synchronize();
    expect(model.calls).toEqual(['cuCtxSynchronize']);
  });
});

describe('printing', () => {
  it('hands values to console.log when somebody waits', () => {
    const parts: PrintSite['parts'] = ['x', { type: 'f64' }, { type: 'i64' }, { type: 'bool' }];
    const { model, device, load } = open({ faultSymbol: undefined, prints: [{ pos, parts }], printSymbol: 'prints' });
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const kernel = load('k');
    model.kernels.set('k', () => {
      const view = new DataView(model.ffi.view(model.global('k', 'prints'), 200));
      view.setUint32(0, 80, true);
      for (const at of [16, 56]) {
        view.setUint32(at, 1, true);
        view.setFloat64(at + 16, 0.5, true);
        view.setBigInt64(at + 24, -3n, true);
        view.setFloat64(at + 32, 1, true);
      }
    });
    kernel.launch(shape, [], undefined);
    expect(log).not.toHaveBeenCalled();
    device.synchronize();
    expect(log.mock.calls).toEqual([
      ['x', 0.5, -3n, true],
      ['x', 0.5, -3n, true],
    ]);
    device.synchronize();
    expect(log).toHaveBeenCalledTimes(2);
  });
});

describe('errors of the driver', () => {
  it('that are sticky name the suspects, and are repeated by every later call and opening', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    kernel.launch(shape, [], undefined);
    model.results.set('cuCtxSynchronize', 700);
    const first = thrownBy(() => device.synchronize());
    expect(first.code).toBe('E_ILLEGAL_ADDRESS');
    expect(first.message).toMatch(/in kernel k with grid \[2, 1, 1\]/);
    expect(first.message).toMatch(/child process/);
    expect(first.launch).toMatch(/^k with/);
    model.results.clear();
    model.calls.length = 0;
    for (const call of [
      () => device.allocate(8),
      () => kernel.launch(shape, [], undefined),
      () => device.synchronize(),
    ]) {
      const again = thrownBy(call);
      expect([again.code, again.cause]).toEqual(['E_ILLEGAL_ADDRESS', first]);
    }
    device.close();
    const { device: number } = device.context;
    expect(thrownBy(() => new NvidiaDriver(model.cuda, { device: number, info, memoryPools: true })).cause).toBe(first);
    expect(model.calls).toEqual([]);
  });

  it('of a launch say which', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.results.set('cuLaunchKernel', 701);
    const error = thrownBy(() => kernel.launch(shape, [], undefined));
    expect(error.code).toBe('E_LAUNCH_RESOURCES');
    expect(error.message).toMatch(/launching kernel k with grid \[2, 1, 1\].*\n {2}help: make the block smaller/s);
    model.results.clear();
    kernel.launch(shape, [], undefined);
    device.synchronize();
  });

  it('of a module say what the assembler said, and where', () => {
    const { model, load } = open();
    model.results.set('cuModuleLoadDataEx', 218);
    expect(thrownBy(() => load('k')).code).toBe('E_PTX_REJECTED');
  });
});

describe('memory', () => {
  it('trims the pool before it gives up', () => {
    const { model, device } = open();
    model.capacity = 1000;
    model.pooled = 500;
    const pointer = device.allocate(800);
    expect(model.calls).toContain('cuMemPoolTrimTo');
    const error = thrownBy(() => device.allocate(300));
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error.message).toMatch(/cannot allocate 300 bytes on Model GPU: 200 of 1000 are free/);
    device.free(pointer);
    device.synchronize();
    expect(model.live).toBe(0);
    expect(thrownBy(() => device.free(pointer)).code).toBe('E_INVALID_POINTER');
  });

  it('without a stream makes no stream wait, unless the default stream has work', () => {
    const { model, device, load } = open({ faultSymbol: undefined, launchNumber: undefined });
    const kernel = load('k');
    const s = device.createStream();
    kernel.launch(shape, [], s);
    device.free(device.allocate(100));
    expect(device.queryStream(s)).toBe(false);
    // Memory that the default stream may use is freed when that has come so far.
    const pointer = device.allocate(100);
    kernel.launch(shape, [], undefined);
    device.free(pointer);
    expect(model.live).toBe(100);
    device.synchronize();
    expect(model.live).toBe(0);
  });

  it('is all given back when the device is closed', () => {
    const { model, device, load } = open();
    device.allocate(100);
    device.allocate(100, device.createStream());
    device.allocate(100, undefined, true);
    load('k');
    device.createEvent(true);
    device.close();
    device.close();
    expect(model.live).toBe(0);
    expect(model.calls).toEqual(
      expect.arrayContaining(['cuModuleUnload', 'cuStreamDestroy', 'cuEventDestroy', 'cuDevicePrimaryCtxRelease']),
    );
    expect(thrownBy(() => device.allocate(8)).code).toBe('E_DEVICE_CLOSED');
  });
});

describe('launches', () => {
  it('opt in to more shared memory than 48 KiB, once', () => {
    const { model, load } = open();
    const kernel = load('k');
    model.calls.length = 0;
    for (const sharedBytes of [49_000, 60_000, 90_000]) kernel.launch({ ...shape, sharedBytes }, [], undefined);
    expect(model.calls.filter((name) => name === 'cuFuncSetAttribute')).toHaveLength(1);
  });

  it('is preferred to caches as the kernel asks, which a driver may decline', () => {
    const { model, device } = open();
    model.results.set('cuFuncSetAttribute', 801);
    device.load({ kernel: kernelNamed('k'), sharedCarveout: 50 });
    expect(model.calls.filter((name) => name === 'cuFuncSetAttribute')).toHaveLength(1);
  });

  it('of overlapping arrays take a second form of the kernel, made when first wanted', () => {
    const { model, device, load } = open();
    const ran: string[] = [];
    for (const name of ['k', 'k aliased']) model.kernels.set(name, () => void ran.push(name));
    const kernel = load('k');
    kernel.launch(shape, [], undefined);
    kernel.launch({ ...shape, aliased: true }, [], undefined);
    kernel.launch({ ...shape, aliased: true }, [], undefined);
    device.synchronize();
    expect(ran).toEqual(['k', 'k aliased', 'k aliased']);
    expect(model.calls.filter((name) => name === 'cuModuleLoadDataEx')).toHaveLength(2);
  });

  it('of no blocks do nothing', () => {
    const { model, load } = open();
    const kernel = load('k');
    model.calls.length = 0;
    kernel.launch({ ...shape, grid: [2, 0, 1] }, [], undefined);
    expect(model.calls).toEqual([]);
  });

  it('need a stream of the device that is alive, and a kernel that is loaded', () => {
    const { device, load } = open();
    const other = open().device;
    const kernel = load('k');
    const stream = device.createStream();
    device.destroyStream(stream);
    for (const [wrong, words] of [
      [stream, /destroyed/],
      [other.createStream(), /another device/],
    ] as const) {
      const error = thrownBy(() => kernel.launch(shape, [], wrong));
      expect([error.code, words.test(error.message)]).toEqual(['E_INVALID_HANDLE', true]);
    }
    kernel.unload();
    expect(thrownBy(() => kernel.launch(shape, [], undefined)).code).toBe('E_UNLOADED');
  });

  it('leave nothing behind when their kernel is unloaded', async () => {
    const { device, load } = open();
    const unloaded = (() => {
      const kernel = load('k');
      kernel.launch(shape, [], undefined);
      device.synchronize();
      kernel.unload();
      return new WeakRef(kernel);
    })();
    for (let k = 0; k < 20 && unloaded.deref() !== undefined; k++) {
      await setImmediate();
      collectGarbage();
    }
    expect(unloaded.deref()).toBe(undefined);
  });
});
