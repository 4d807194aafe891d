import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { deviceArray } from '../array/device-create.ts';
import type { DeviceKind, DriverProvider } from '../driver/driver.ts';
import * as devices from './devices.ts';

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
    devices.registerProvider(cpu);
    devices.registerProvider(simulator);
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
    expect(device.fallbackReason).toMatch(/no driver for NVIDIA GPUs/);
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
    expect(() => devices.currentDevice()).toThrow('TSAMBA_DEVICE=gpu names no device; auto, nvidia, cpu, simulator');
    vi.stubEnv('TSAMBA_DEVICE', 'nvidia');
    expect(() => devices.currentDevice()).toThrow(/TSAMBA_DEVICE=nvidia: there is no nvidia device: .*no driver/);
  });

  it('is an error without a GPU when one is required', () => {
    vi.stubEnv('TSAMBA_REQUIRE_GPU', '1');
    expect(() => devices.currentContext()).toThrow(/TSAMBA_REQUIRE_GPU=1, but there is no NVIDIA GPU.*no driver/);
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
    expect(devices.gpus).toEqual([]);
    expect(devices.isAvailable()).toBe(false);
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
    expect(devices.detect()).toBe(false);
    const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
    write.mockRestore();
    expect(text).toContain('Found 0 NVIDIA GPUs: ');
    expect(text).toContain('simulator: usable');
  });
});
