/**
 * The HIP driver over a model of the library: which calls it makes, in which order, and what it makes of their results.
 */
import { describe, expect, it, vi } from 'vitest';
import type { ArraySym, AtomicOp, Expr, Kernel, MemRef, Stmt } from '../../compiler/ir/ops.ts';
import type { OpenCLArg, OpenCLModule } from '../../compiler/render/opencl/module.ts';
import { FAULTS } from '../../compiler/render/reports.ts';
import { DriverError, NotSupportedError, OutOfMemoryError } from '../../errors.ts';
import { Context } from '../../memory/context.ts';
import type { Executable, LaunchShape } from '../driver.ts';
import { reportFault } from '../reporting.testing.ts';
import { HipDriver } from './device.ts';
import { HipModel, type HipModelOptions } from './hip-model.testing.ts';
import { describeDevice } from './info.ts';
import { bindHip, type Hip } from './library.ts';

const shape: LaunchShape = { grid: [2, 1, 1], block: [64, 1, 1], sharedBytes: 0 };
const pos = { source: { text: 'throw', name: 'boom' }, start: 0, end: 1 };

function kernelNamed(name: string): Kernel {
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
    pos: { source: { text: '', name }, start: 0, end: 0 },
  };
}

/** What kernels take here: a count, a pointer, and all that is the driver's. */
const ARGS: readonly OpenCLArg[] = [
  { kind: 'value', param: 0, type: 'bool', size: 1 },
  { kind: 'value', param: 1, type: 'i32', size: 4 },
  { kind: 'pointer', param: 2 },
  { kind: 'value', param: 3, type: 'f64', size: 8 },
  { kind: 'faults' },
  { kind: 'launchNumber' },
  { kind: 'sharedBytes' },
];

function hipOf(model: HipModel): Hip {
  const { hip, reason } = bindHip(model.ffi, model);
  if (hip === undefined) throw new Error(reason);
  return hip;
}

let number = 0;

function open(
  more: Partial<OpenCLModule> = {},
  options: HipModelOptions = {},
): { model: HipModel; device: HipDriver; load: (name: string) => Executable } {
  const model = new HipModel(options);
  const hip = hipOf(model);
  // A number of its own: what a device did not survive is remembered.
  const device = new HipDriver(
    hip,
    { ...describeDevice(hip, 0), device: number++ },
    {
      compileCopies: () => Buffer.from('copies\0'),
      pipeline: {
        compile: (kernel, { arch }, { hostAtomics, partial }) => ({
          code: Buffer.from(
            `${kernel.name} for ${arch}${hostAtomics === true ? ', by exchange' : ''}${partial === true ? ', in parts' : ''}\0`,
          ),
          source: {
            text: '',
            entry: kernel.name,
            args: ARGS,
            buildOptions: [],
            staticSharedBytes: 0,
            constants: undefined,
            sites: [{ kind: 'trap', pos, message: 'boom' }],
            prints: [],
            usesDisjoint: false,
            cooperative: false,
            threadsPerBlockLimit: undefined,
            ...more,
          },
        }),
      },
    },
  );
  model.calls.length = 0;
  return { model, device, load: (name) => device.load({ kernel: kernelNamed(name) }) };
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

describe('a HIP device', () => {
  it('says what it is, by attributes and the name of its architecture', () => {
    const { device } = open();
    expect(device.info).toMatchObject({
      kind: 'hip',
      name: 'AMD Instinct MI210 (gfx90a)',
      uuid: 'GPU-0123456789abcdef',
      pciBusId: '0000:c1:00.0',
      driverVersion: 'HIP 6.4.43484',
      hardware: { type: 'gpu', vendor: 'amd' },
      limits: { maxThreadsPerBlock: 1024, maxSharedBytesPerBlock: 65536, warpSize: 32, multiprocessors: 104 },
      features: { streamOrdered: true, cooperative: false, mapsHostMemory: true },
    });
    expect([device.device.arch, device.device.waveSize]).toEqual(['gfx90a:sramecc+:xnack-', 64]);
  });

  it('of ROCm 5 has its architecture elsewhere in another struct', () => {
    expect(open({}, { without: ['hipGetDevicePropertiesR0600'] }).device.device.arch).toBe('gfx906');
  });

  it('needs no pools of HIP', () => {
    const { model, device } = open({}, { without: ['hipMallocAsync', 'hipFreeAsync'] });
    vi.stubEnv('TSAMBA_HIP_MALLOC_ASYNC', '1');
    const other = open({}, { without: ['hipMallocAsync', 'hipFreeAsync'] });
    vi.unstubAllEnvs();
    for (const driver of [device, other.device]) driver.free(driver.allocate(100));
    for (const { calls } of [model, other.model]) expect(calls).toContain('hipMalloc');
  });

  it('cannot be used by a library that lacks a function', () => {
    const { hip, reason } = bindHip(new HipModel().ffi, new HipModel({ without: ['hipModuleLaunchKernel'] }));
    expect([hip, reason]).toEqual([undefined, expect.stringMatching(/has no hipModuleLaunchKernel/)]);
  });
});

describe('memory', () => {
  it('is allocated and freed in the order of a stream', () => {
    const { model, device } = open();
    const stream = device.createStream();
    model.calls.length = 0;
    const pointer = device.allocate(100, stream);
    device.free(pointer, stream);
    expect(device.allocate(200, stream)).toBe(pointer);
    expect(model.calls).toEqual(['hipMalloc', 'hipEventCreateWithFlags', 'hipEventRecord']);
  });

  it('comes from HIP’s own pool where the user asks for it', () => {
    vi.stubEnv('TSAMBA_HIP_MALLOC_ASYNC', '1');
    const { model, device } = open();
    vi.unstubAllEnvs();
    const stream = device.createStream();
    model.calls.length = 0;
    device.free(device.allocate(100, stream), stream);
    expect(model.calls).toEqual(['hipMallocAsync', 'hipFreeAsync']);
  });

  it('that is idle in the pool goes back to the device before there is none', () => {
    const { model, device } = open();
    model.cuda.capacity = 10_000;
    device.free(device.allocate(8000));
    expect(device.memoryInfo()).toMatchObject({ pooled: 8192, free: 10_000 });
    device.allocate(6000);
    expect(device.memoryInfo()).toMatchObject({ pooled: 0, free: 10_000 - 6144 });
  });

  it('that is not there is an error in HIP’s words', () => {
    const { model, device } = open();
    model.cuda.capacity = 50;
    const error = thrownBy(() => device.allocate(100));
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error.message).toMatch(/^hipMalloc: cannot allocate 100 bytes on AMD Instinct MI210/);
  });

  it('of the host is allocated, mapped, registered and given back by HIP', () => {
    const { model, device } = open();
    device.freeHost(device.allocateHost(64, { kind: 'mapped' }));
    device.freeHost(device.allocateHost(64, { kind: 'managed' }));
    device.unregisterHost(device.registerHost(new Uint8Array(new ArrayBuffer(4096)), true));
    expect(model.calls).toEqual([
      ...['hipHostMalloc', 'hipHostGetDevicePointer', 'hipHostFree'],
      ...['hipMallocManaged', 'hipFree'],
      ...['hipHostRegister', 'hipHostGetDevicePointer', 'hipHostUnregister'],
    ]);
  });
});

describe('copies', () => {
  it('of bytes are HIP’s own, and wait where no stream is given', () => {
    const { model, device } = open();
    const pointer = device.allocate(16);
    const bytes = new Uint8Array(new ArrayBuffer(128), 0, 16);
    model.calls.length = 0;
    device.copyToHost(bytes, pointer);
    expect(model.calls).toEqual(['hipMemcpyDtoH']);
  });

  it('that was freed goes back to the device when the queue of deallocations is cleared', () => {
    const { model, device } = open();
    const context = new Context(device);
    const memory = context.allocate(4096);
    memory.retain();
    memory.release();
    expect(model.cuda.live).toBeGreaterThanOrEqual(4096);
    context.deallocations.clear();
    expect(model.cuda.live).toBe(0);
    expect(device.memoryInfo().pooled).toBe(0);
    context.close();
  });

  it('of blocks go layer by layer', () => {
    const { model, device } = open();
    const pointer = Number(device.allocate(2 ** 20));
    const host = new Uint8Array(2 ** 20);
    const [rows, layers] = [1024, 2];
    const region = { shape: [layers, rows, 64], itemSize: 1 };
    device.copyToDeviceStrided(
      {
        target: { pointer, strides: [rows * 64, 64, 1] },
        source: { bytes: host, offset: 0, strides: [rows * 256, 256, 1] },
        ...region,
      },
      device.createStream(),
    );
    // Target, pitch, source, pitch, width, height, kind (host to device).
    const from = Number(model.ffi.address(host));
    const copied = model.blocks.reduce((sum, block) => sum + (block[4] ?? 0) * (block[5] ?? 0), 0);
    expect(copied).toBe(layers * rows * 64);
    expect(model.blocks[0]?.slice(0, 5)).toEqual([pointer, 64, from, 256, 64]);
    expect(model.blocks.every((block) => block[6] === 1)).toBe(true);
  });

  it('that kernels make have a code object of their own, and a list of arguments that ends as HIP’s do', () => {
    const { model, device } = open();
    const [a, b] = [device.allocate(4096), device.allocate(4096)];
    let units = 0;
    model.cuda.kernels.set('copies', (params) => {
      units += params.getUint32(16, true);
    });
    device.copyOnDeviceStrided({
      target: { pointer: a, strides: [128, 8] },
      source: { pointer: b, strides: [8, 256] },
      shape: [16, 16],
      itemSize: 4,
    });
    expect(units).toBe(256);
    expect(model.calls).toEqual(
      expect.arrayContaining(['hipModuleLoadData', 'hipModuleGetFunction', 'hipModuleLaunchKernel']),
    );
  });
});

describe('kernels', () => {
  it('are loaded as code objects for the device, with their records as arguments', () => {
    const { model, load } = open();
    load('k');
    expect(model.calls.filter((name) => !name.startsWith('hipFuncGet'))).toEqual([
      ...['hipModuleLoadData', 'hipModuleGetFunction'],
      ...['hipMalloc', 'hipMemsetD8Async', 'hipStreamSynchronize'],
    ]);
  });

  it('get their arguments packed as C has them in a struct', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    const seen: unknown[] = [];
    model.cuda.kernels.set('k for gfx90a:sramecc+:xnack-', (params) => {
      seen.push(
        params.getUint8(0),
        params.getInt32(4, true),
        params.getBigUint64(8, true),
        params.getFloat64(16, true),
      );
      seen.push(params.getUint32(32, true), params.getUint32(36, true), params.byteLength);
    });
    kernel.launch({ ...shape, sharedBytes: 256 }, [true, -7, 0x7f00_0000_1000, 0.5], undefined);
    device.synchronize();
    expect(seen).toEqual([1, -7, 0x7f00_0000_1000n, 0.5, 1, 256, 40]);
  });

  it('cost one call a launch', () => {
    const { model, load } = open();
    const kernel = load('k');
    model.calls.length = 0;
    kernel.launch(shape, [false, 1, 0, 2], undefined);
    kernel.launch(shape, [false, 1, 0, 2], undefined);
    expect(model.calls).toEqual(['hipModuleLaunchKernel', 'hipModuleLaunchKernel']);
  });

  it('with atomic operations that PCIe does not carry have other code for memory of the host', () => {
    const { model, device } = open();
    const array: ArraySym = { id: 0, name: 'a', space: 'global', elem: 'i32', param: 2, align: 4 };
    const zero: Expr = { op: 'const', type: 'i32', value: 0 };
    const mem: MemRef = { array, elem: 'i32', index: zero, scale: 4, disp: 0, checks: [], pos: kernelNamed('k').pos };
    const launched: string[] = [];
    const names = ['k for gfx90a:sramecc+:xnack-', 'k for gfx90a:sramecc+:xnack-, by exchange'];
    for (const name of names) model.cuda.kernels.set(name, () => void launched.push(name));
    const runs = (fn: AtomicOp): readonly number[] => {
      const body: Stmt[] = [{ op: 'atomic', fn, mem, args: [zero], pos: kernelNamed('k').pos }];
      const kernel = device.load({ kernel: { ...kernelNamed('k'), body } });
      launched.length = 0;
      const mapped = device.allocateHost(64, { kind: 'mapped' });
      const managed = device.allocateHost(64, { kind: 'managed' });
      const registered = device.registerHost(new Uint8Array(new ArrayBuffer(4096)), true);
      const inside = Number(registered.pointer) + 8;
      for (const at of [device.allocate(64), mapped.pointer, managed.pointer, inside]) {
        kernel.launch(shape, [false, 1, Number(at), 2], undefined);
      }
      device.freeHost(mapped);
      device.synchronize();
      return launched.map((name) => names.indexOf(name));
    };
    for (const fn of ['sub', 'and', 'or', 'xor', 'min', 'max'] as const) expect(runs(fn), fn).toEqual([0, 1, 1, 1]);
    for (const fn of ['add', 'exch'] as const) expect(runs(fn), fn).toEqual([0, 0, 0, 0]);
  });

  it('are launched in parts where a grid has more threads along an axis than a packet has bits for', () => {
    const axes = [0, 1, 2] as const;
    const places = axes.flatMap((axis) => [{ kind: 'firstBlock', axis } as const, { kind: 'blocks', axis } as const]);
    const { model, device, load } = open({ args: [...ARGS, ...places] });
    const kernel = load('k');
    const parts: number[][] = [];
    model.cuda.kernels.set('k for gfx90a:sramecc+:xnack-, in parts', (params) => {
      // The number of the launch, the first block along each axis, and the grid.
      parts.push([32, 40, 48, 56, 44, 52, 60].map((at) => params.getUint32(at, true)));
    });
    model.calls.length = 0;
    const wide: LaunchShape = { grid: [2 ** 25, 3, 1], block: [256, 1, 1], sharedBytes: 0 };
    kernel.launch(wide, [false, 1, 0, 2], undefined);
    expect(model.calls.filter((name) => name === 'hipModuleLaunchKernel')).toHaveLength(3);
    device.synchronize();
    const launch = parts[0]?.[0];
    const along = 2 ** 24 - 1;
    expect(parts).toEqual([0, along, 2 * along].map((first) => [launch, first, 0, 0, 2 ** 25, 3, 1]));
    model.calls.length = 0;
    kernel.launch({ ...wide, grid: [along, 3, 1] }, [false, 1, 0, 2], undefined);
    expect(model.calls).toEqual(['hipModuleLaunchKernel']);
  });

  it('that fault are named by the call that waits', () => {
    const { model, device, load } = open();
    const kernel = load('k');
    model.cuda.kernels.set('k for gfx90a:sramecc+:xnack-', (params) => {
      const table = new DataView(model.ffi.view(Number(params.getBigUint64(24, true)), FAULTS.bytes));
      reportFault(table, params.getUint32(32, true));
    });
    kernel.launch(shape, [false, 1, 0, 2], undefined);
    const error = thrownBy(() => device.synchronize());
    expect(error.code).toBe('E_KERNEL_FAULT');
    expect(error.message).toMatch(/^kernel k: boom at block \(1,0,0\), thread \(5,0,0\)/);
    device.synchronize();
  });

  it('whose blocks wait for each other are launched with one block only', () => {
    const { load } = open({ cooperative: true });
    const kernel = load('k');
    kernel.launch({ ...shape, grid: [1, 1, 1] }, [false, 1, 0, 2], undefined);
    expect(() => kernel.launch(shape, [false, 1, 0, 2], undefined)).toThrow(NotSupportedError);
  });

  it('take the block that HIP thinks best', () => {
    expect(open().load('k').suggestBlock(0, 1024)).toBe(512);
    expect(open({ threadsPerBlockLimit: 256 }).load('k').suggestBlock(0, 1024)).toBe(256);
  });
});

describe('errors', () => {
  it('have HIP’s names, and help for AMD', () => {
    const { model, load } = open();
    model.results.set('hipModuleLoadData', 209);
    const error = thrownBy(() => load('k'));
    expect([error.code, error.api]).toEqual(['E_HIP_REJECTED', 'hipModuleLoadData']);
    expect(error.message).toMatch(/^hipModuleLoadData: hipError209 \(209\): what 209 is\n {2}loading kernel k on AMD/);
  });

  it('that the device does not survive are repeated', () => {
    const { model, device, load } = open();
    load('k').launch(shape, [false, 1, 0, 2], undefined);
    model.results.set('hipDeviceSynchronize', 700);
    expect(thrownBy(() => device.synchronize()).message).toMatch(/^hipDeviceSynchronize: .*\n(.*\n)*.*boundsCheck/);
    model.results.clear();
    expect(thrownBy(() => device.allocate(8)).code).toBe('E_ILLEGAL_ADDRESS');
  });
});

describe('closing', () => {
  it('gives everything back', () => {
    const { model, device, load } = open();
    device.allocate(100);
    device.createStream();
    load('k');
    device.close();
    expect(model.calls).toEqual(expect.arrayContaining(['hipModuleUnload', 'hipStreamDestroy', 'hipFree']));
    expect(model.cuda.live).toBe(0);
    expect(thrownBy(() => device.allocate(8)).code).toBe('E_DEVICE_CLOSED');
  });
});
