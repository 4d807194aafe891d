import { format } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import * as devices from '../cuda/host.ts';
import { deviceArray } from '../cuda/host.ts';
import type { DeviceInfo, DeviceKind, DriverProvider } from '../driver/driver.ts';
import { DriverError } from '../errors.ts';
import * as roc from '../roc/host.ts';
import type { Device } from './device.ts';
import { detect, gpus, isAvailable } from './gpus.ts';
import { registerProvider } from './providers.ts';

/** A provider of several test devices that can be described without being opened. */
function gpuProvider(count: number, computeCapability: readonly [number, number] = [9, 0]) {
  const describe = (index: number) => ({
    ...new BlockDriver(1 << 30, 'nvidia', index).info,
    computeCapability,
    pciBusId: `0000:0${index}:00.0`,
    uuid: `GPU-${index}`,
    driverVersion: 'CUDA 13.0',
  });
  const opened: number[] = [];
  const open = (index: number) => {
    opened.push(index);
    return new BlockDriver(1 << 30, 'nvidia', index);
  };
  return { kind: 'nvidia' as const, probe: () => ({ count, reason: 'none here' }), describe, open, opened };
}

/** A provider whose device is a test device; counts how often it was opened. */
function provider(kind: DeviceKind): DriverProvider & { opened: number } {
  const self = {
    kind,
    opened: 0,
    probe: () => ({ count: 1 }),
    open: () => {
      self.opened++;
      return new BlockDriver(1 << 20, kind);
    },
  };
  return self;
}

describe('the choice of a device', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  let [cpu, simulator] = [provider('cpu'), provider('simulator')];

  beforeEach(() => {
    [cpu, simulator] = [provider('cpu'), provider('simulator')];
    registerProvider(cpu);
    registerProvider(simulator);
    for (const name of ['TSAMBA_DEVICE', 'TSAMBA_REQUIRE_GPU']) vi.stubEnv(name, undefined);
    warn.mockClear();
  });
  afterEach(() => {
    devices.close();
    vi.unstubAllEnvs();
  });

  it('falls back to the CPU device, says why, and says so once a process', () => {
    expect(cpu.opened).toBe(0);
    const device = devices.currentDevice();
    expect(device).toMatchObject({ kind: 'cpu', index: 0, computeCapability: undefined });
    expect(device.fallbackReason).toMatch(/NVIDIA/);
    expect(device.limits.maxThreadsPerBlock).toBe(1024);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[1]).toMatchObject({ code: 'TSAMBA_FALLBACK' });
    devices.close();
    devices.currentContext();
    expect(cpu.opened).toBe(2);
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each(['cpu', 'simulator'] as const)('takes what TSAMBA_DEVICE=%s asks for, without a word', (kind) => {
    vi.stubEnv('TSAMBA_DEVICE', kind);
    expect(devices.currentDevice()).toMatchObject({ kind, fallbackReason: undefined });
    expect(warn).not.toHaveBeenCalled();
  });

  it('names the values of TSAMBA_DEVICE when it has another', () => {
    vi.stubEnv('TSAMBA_DEVICE', 'gpu');
    expect(() => devices.currentDevice()).toThrow(
      'TSAMBA_DEVICE=gpu names no device; auto, nvidia, opencl, hip, webgpu, cpu, simulator',
    );
    vi.stubEnv('TSAMBA_DEVICE', 'nvidia');
    expect(() => devices.currentDevice()).toThrow(
      /TSAMBA_DEVICE=nvidia: there is no NVIDIA GPU \(.+\); TSAMBA_DEVICE=cpu selects the CPU device/,
    );
  });

  it('is an error without a GPU when one is required', () => {
    vi.stubEnv('TSAMBA_REQUIRE_GPU', '1');
    expect(() => devices.currentContext()).toThrow(/TSAMBA_REQUIRE_GPU=1, but cuda has no GPU to use: .*NVIDIA/);
    vi.stubEnv('TSAMBA_DEVICE', 'cpu');
    expect(() => devices.currentContext()).toThrow('TSAMBA_REQUIRE_GPU=1 contradicts TSAMBA_DEVICE=cpu');
    expect(cpu.opened).toBe(0);
  });

  it('can be made in the program, with one context a kind', () => {
    expect(devices.selectDevice('simulator')).toMatchObject({ kind: 'simulator', fallbackReason: undefined });
    const context = devices.currentContext();
    expect(devices.selectDevice('cpu')).toMatchObject({ kind: 'cpu', fallbackReason: undefined });
    devices.selectDevice('simulator');
    expect(devices.currentContext()).toBe(context);
    expect(simulator.opened).toBe(1);
  });

  it('refuses GPUs that are not there, and what is no device', () => {
    expect(() => devices.selectDevice(0)).toThrow(/no NVIDIA GPU 0: .*selectDevice\('cpu'\)/);
    expect(() => devices.selectDevice(-1)).toThrow(RangeError);
    expect(() => devices.selectDevice('gpu' as 'cpu')).toThrow(/'gpu'.* names no device/);
    expect(gpus).toEqual([]);
    expect(isAvailable()).toBe(false);
  });

  it('knows every kind, and says which has no driver here', async () => {
    // Where there are adapters, they are not found.
    vi.stubEnv('VK_ICD_FILENAMES', '/there/is/none.json');
    vi.stubEnv('VK_DRIVER_FILES', '/there/is/none.json');
    expect(() => devices.selectDevice('webgpu')).toThrow(
      /there is no WebGPU device( \(.*npm install webgpu\)|: .* offers no adapter)|a webgpu device cannot be opened at once/,
    );
    await expect(devices.open('gpu' as 'cpu')).rejects.toThrow(/'gpu'.* names no device/);
    expect(await devices.open('simulator')).toMatchObject({ kind: 'simulator', fallbackReason: undefined });
    expect(devices.currentDevice().kind).toBe('simulator');
    expect(() => devices.selectDevice('cpu', 1)).toThrow("cuda.selectDevice('cpu', 1): there are 1, numbered from 0");
    expect(() => devices.selectDevice('cpu', -1)).toThrow('numbered from 0');
  });

  it('ends everything with close()', () => {
    const array = deviceArray(4);
    const context = devices.currentContext();
    devices.close();
    expect(array.disposed).toBe(true);
    expect(() => array.copyToHost()).toThrow(/its context was closed/);
    expect(() => context.synchronize()).toThrow(/was closed/);
    array.dispose();
    expect(deviceArray(4).disposed).toBe(false);
  });

  it('prints what there is', () => {
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    expect(detect()).toBe(false);
    const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
    write.mockRestore();
    expect(text).toContain('Found 0 NVIDIA GPUs: ');
    expect(text).toContain('simulator: usable');
  });
});

describe('several GPUs', () => {
  const machine = gpuProvider(3);

  beforeEach(() => {
    for (const name of ['TSAMBA_DEVICE', 'TSAMBA_REQUIRE_GPU']) vi.stubEnv(name, undefined);
    registerProvider(machine);
    machine.opened.length = 0;
  });
  afterEach(() => {
    devices.close();
    registerProvider(gpuProvider(0));
    vi.unstubAllEnvs();
  });

  it('are listed without being opened', () => {
    expect(gpus).toHaveLength(3);
    expect(gpus.map(({ name }) => name)).toEqual(['test device', 'test device 1', 'test device 2']);
    expect([...gpus][2]).toBe(gpus[2]);
    expect(gpus.at(-1)?.uuid).toBe('GPU-2');
    expect(Array.isArray(gpus)).toBe(true);
    expect(format('%o', gpus)).toContain('GPU-1');
    expect(() => (gpus as Device[]).push(gpus[0] as Device)).toThrow(TypeError);
    expect(isAvailable()).toBe(true);
    expect(machine.opened).toEqual([]);
  });

  it('have one context each, opened when they are selected', () => {
    expect(devices.currentDevice()).toMatchObject({ kind: 'nvidia', index: 0, fallbackReason: undefined });
    const first = devices.currentContext();
    expect(devices.selectDevice(2)).toMatchObject({ kind: 'nvidia', index: 2 });
    const third = devices.currentContext();
    expect(third).not.toBe(first);
    expect(devices.selectDevice('nvidia').index).toBe(0);
    expect(devices.currentContext()).toBe(first);
    expect(machine.opened).toEqual([0, 2]);
    expect(() => devices.selectDevice(3)).toThrow(/no NVIDIA GPU 3: this machine has 3, numbered from 0/);
    devices.selectDevice(2);
    const onThird = deviceArray(4);
    devices.selectDevice(0);
    expect(onThird.context).toBe(third);
    devices.close();
    expect(first.closed && third.closed).toBe(true);
  });

  it('can be made current for a while, as Numba does by `with`', async () => {
    const outer = devices.currentContext();
    const second = gpus[1] as Device;
    const inside = second.activate(() => [devices.currentDevice().index, deviceArray(2).context.info.index]);
    expect(inside).toEqual([1, 1]);
    expect(devices.currentContext()).toBe(outer);
    const active = second.activate();
    const nested = gpus[2]?.activate();
    expect(devices.currentDevice().index).toBe(2);
    nested?.dispose();
    expect(devices.currentDevice().index).toBe(1);
    active[Symbol.dispose]();
    active.dispose();
    expect(devices.currentContext()).toBe(outer);
    expect(() =>
      second.activate(() => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(devices.currentContext()).toBe(outer);
    expect(await second.activate(async () => devices.currentDevice().index)).toBe(1);
    expect(devices.currentContext()).toBe(outer);
    expect(() => second.activate(3 as never)).toThrow(TypeError);
  });

  it('are printed with what tells them apart', () => {
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    expect(detect()).toBe(true);
    const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
    write.mockRestore();
    expect(text).toContain('Found 3 NVIDIA GPUs, driver for CUDA 13.0');
    expect(text).toContain(
      '  gpu 1: test device 1, compute capability 9.0, 1.0 GiB, PCI 0000:01:00.0, GPU-1: usable\n',
    );
    expect(machine.opened).toEqual([]);
  });
});

/** A provider of devices that are made of what `infos` says. */
function machineOf(
  kind: DeviceKind,
  infos: readonly Partial<DeviceInfo>[],
): DriverProvider & { readonly opened: number[] } {
  const opened: number[] = [];
  const driver = (index: number): BlockDriver => {
    const made = new BlockDriver(1 << 20, kind, index);
    return Object.assign(made, { info: { ...made.info, name: `${kind} ${index}`, ...infos[index] } });
  };
  return {
    kind,
    opened,
    probe: () => ({ count: infos.length, reason: infos.length === 0 ? 'none here' : undefined }),
    describe: (index) => driver(index).info,
    open: (index) => {
      opened.push(index);
      return driver(index);
    },
  };
}

const GPU = { hardware: { type: 'gpu', vendor: 'intel' } } as const;
const NO_F64 = { ...GPU, f64: false } as const;
const HOST = { hardware: { type: 'cpu', vendor: 'other' } } as const;

describe('a machine without an NVIDIA GPU', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

  function machine(opencl: readonly Partial<DeviceInfo>[], hip: readonly Partial<DeviceInfo>[] = []) {
    const made = { opencl: machineOf('opencl', opencl), hip: machineOf('hip', hip) };
    registerProvider(machineOf('nvidia', []));
    registerProvider(made.opencl);
    registerProvider(made.hip);
    registerProvider(provider('cpu'));
    return made;
  }

  /** A selection that has announced nothing yet. */
  async function fresh() {
    vi.resetModules();
    const { cudaDevices } = await import('./devices.ts');
    const { registerProvider: register } = await import('./providers.ts');
    return { cudaDevices, register };
  }

  beforeEach(() => {
    for (const name of ['TSAMBA_DEVICE', 'TSAMBA_REQUIRE_GPU']) vi.stubEnv(name, undefined);
    warn.mockClear();
  });
  afterEach(() => {
    devices.close();
    vi.unstubAllEnvs();
  });

  it.each([
    ['an AMD GPU by HIP', [GPU], [GPU], 'hip 0'],
    ['else a GPU by OpenCL', [HOST, GPU], [], 'opencl 1'],
    ['no GPU without f64, and no CPU by OpenCL', [NO_F64, HOST], [], 'test device'],
  ])('takes %s', (_, opencl, hip, expected) => {
    const { opencl: provided } = machine(opencl, hip);
    expect(devices.currentDevice()).toMatchObject({ name: expected, fallbackReason: 'none here' });
    expect(provided.opened).toEqual(expected === 'opencl 1' ? [1] : []);
  });

  it('loads no library of a kind that has no GPU for certain', () => {
    const { opencl } = machine([GPU]);
    const probed = vi.spyOn(opencl, 'probe');
    opencl.mayHaveGpu = () => false;
    expect(devices.currentDevice().name).toBe('test device');
    expect(probed).not.toHaveBeenCalled();
    expect(devices.selectDevice('opencl').name).toBe('opencl 0');
  });

  it('goes on to the next where a device cannot be opened', () => {
    const { opencl } = machine([GPU, GPU]);
    const open = opencl.open.bind(opencl);
    opencl.open = (index) => {
      if (index === 0) throw new DriverError('E_MISCOMPILED', 'opencl 0 computes wrong numbers');
      return open(index);
    };
    expect(devices.currentDevice().name).toBe('opencl 1');
  });

  it('says once what it took, what it left, and how to choose', async () => {
    const { cudaDevices, register } = await fresh();
    for (const one of [machineOf('nvidia', []), machineOf('opencl', [NO_F64, HOST, GPU]), machineOf('hip', [])]) {
      register(one);
    }
    expect(cudaDevices.currentDevice().kind).toBe('opencl');
    cudaDevices.close();
    cudaDevices.currentDevice();
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toBe(
      'no NVIDIA GPU is used (none here): kernels run on opencl 2. TSAMBA_DEVICE=opencl chooses it silently, TSAMBA_DEVICE=cpu the CPU device. ' +
        "Skipped: opencl 0 (has no f64; TSAMBA_DEVICE=opencl selects it), opencl 1 (is no GPU; cuda.selectDevice('opencl', 1) selects it)",
    );
    cudaDevices.close();
  });

  it('satisfies TSAMBA_REQUIRE_GPU by any GPU', () => {
    vi.stubEnv('TSAMBA_REQUIRE_GPU', '1');
    machine([NO_F64]);
    expect(() => devices.currentDevice()).toThrow('TSAMBA_REQUIRE_GPU=1, but cuda has no GPU to use: none here');
    vi.stubEnv('TSAMBA_DEVICE', 'opencl');
    expect(devices.currentDevice()).toMatchObject({ name: 'opencl 0', vendor: 'intel', fallbackReason: undefined });
    devices.close();
    machine([HOST]);
    expect(() => devices.currentDevice()).toThrow(
      'TSAMBA_REQUIRE_GPU=1 contradicts TSAMBA_DEVICE=opencl, which is opencl 0; unset one of them',
    );
  });

  it('has devices that are opened by a promise, once for all who ask', async () => {
    const provided = machineOf('webgpu', [NO_F64]);
    const later = { ...provided, open: async (index: number) => provided.open(index) };
    registerProvider(later);
    expect(() => devices.selectDevice('webgpu')).toThrow(/await cuda\.open\('webgpu'\)/);
    const both = await Promise.all([devices.open('webgpu'), roc.open('webgpu'), devices.open('webgpu')]);
    expect(both.map(({ kind }) => kind)).toEqual(['webgpu', 'webgpu', 'webgpu']);
    // The one that could not be waited for, and the one that all share.
    expect(provided.opened).toEqual([0, 0]);
    expect(devices.currentContext().isWith(roc.currentContext())).toBe(true);
    expect(devices.selectDevice('webgpu').kind).toBe('webgpu');
    roc.close();
    expect(deviceArray(2).context.closed).toBe(false);
  });
});
