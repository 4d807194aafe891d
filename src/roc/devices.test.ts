/**
 * Which device `roc` takes: in the order of preference, by `TSAMBA_ROC_DRIVER`, by `selectDevice`; and that its contexts are its own.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import * as devices from '../cuda/host.ts';
import type { DeviceKind, DriverProvider, HardwareInfo } from '../driver/driver.ts';
import { registerProvider } from '../memory/providers.ts';
import { agents } from './agents.ts';
import { deviceArray } from './arrays.ts';
import { isAvailable } from './devices.ts';
import * as roc from './host.ts';

const GPU = (vendor: HardwareInfo['vendor']): HardwareInfo => ({ type: 'gpu', vendor });
const CPU: HardwareInfo = { type: 'cpu', vendor: 'other' };

/** A provider of devices that are made of the hardware given. */
function provider(kind: DeviceKind, hardware: readonly HardwareInfo[]): DriverProvider & { readonly opened: number[] } {
  const opened: number[] = [];
  const driver = (index: number): BlockDriver => {
    const made = new BlockDriver(1 << 20, kind, index);
    return Object.assign(made, { info: { ...made.info, hardware: hardware[index] } });
  };
  return {
    kind,
    opened,
    probe: () => ({ count: hardware.length, reason: hardware.length === 0 ? 'none here' : undefined }),
    describe: (index) => driver(index).info,
    open: (index) => {
      opened.push(index);
      return driver(index);
    },
  };
}

function machine(opencl: readonly HardwareInfo[], hip: readonly HardwareInfo[] = []): void {
  registerProvider(provider('opencl', opencl));
  registerProvider(provider('hip', hip));
  registerProvider(provider('cpu', [CPU]));
}

const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);

beforeEach(() => {
  for (const name of ['TSAMBA_ROC_DRIVER', 'TSAMBA_REQUIRE_GPU']) vi.stubEnv(name, undefined);
  warn.mockClear();
});
afterEach(() => {
  roc.close();
  devices.close();
  vi.unstubAllEnvs();
});

const chosen = (): string => {
  const { kind, index, type, vendor } = roc.currentDevice();
  return `${kind} ${index}: ${vendor} ${type}`;
};

describe('auto', () => {
  it('falls back to the CPU device, says why, and says so once a process', () => {
    machine([]);
    expect(chosen()).toBe('cpu 0: other cpu');
    expect(roc.currentDevice().fallbackReason).toBe('no OpenCL device (none here); no HIP device (none here)');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[0]).toContain('TSAMBA_ROC_DRIVER=cpu chooses it silently');
    roc.close();
    roc.currentDevice();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(isAvailable()).toBe(false);
  });

  it.each([
    ['an AMD GPU by OpenCL', [CPU, GPU('nvidia'), GPU('amd')], [GPU('amd')], 'opencl 2: amd gpu'],
    ['else one by HIP', [GPU('nvidia')], [GPU('amd')], 'hip 0: amd gpu'],
    ['else another GPU by OpenCL', [CPU, GPU('intel')], [], 'opencl 1: intel gpu'],
    ['else the CPU by OpenCL', [CPU], [], 'opencl 0: other cpu'],
  ])('takes %s', (_, opencl, hip, expected) => {
    machine(opencl, hip);
    expect(chosen()).toBe(expected);
    expect(isAvailable()).toBe(true);
    expect(roc.currentDevice().fallbackReason).toBe(
      expected.endsWith('gpu') ? undefined : 'there is no GPU by OpenCL, and none by HIP',
    );
    expect(warn).not.toHaveBeenCalled();
  });

  it('has no fallback when a GPU is required', () => {
    machine([CPU]);
    vi.stubEnv('TSAMBA_REQUIRE_GPU', '1');
    expect(() => roc.currentDevice()).toThrow('roc has no GPU to use: there is no GPU by OpenCL, and none by HIP');
    vi.stubEnv('TSAMBA_ROC_DRIVER', 'cpu');
    expect(() => roc.currentDevice()).toThrow('TSAMBA_REQUIRE_GPU=1 contradicts TSAMBA_ROC_DRIVER=cpu');
    machine([GPU('amd')]);
    vi.stubEnv('TSAMBA_ROC_DRIVER', 'opencl');
    expect(chosen()).toBe('opencl 0: amd gpu');
  });
});

describe('TSAMBA_ROC_DRIVER', () => {
  it('names the kind, silently', () => {
    machine([CPU]);
    vi.stubEnv('TSAMBA_ROC_DRIVER', 'CPU');
    expect(chosen()).toBe('cpu 0: other cpu');
    expect(roc.currentDevice().fallbackReason).toBeUndefined();
    expect(warn).not.toHaveBeenCalled();
  });

  it('is an error where there is none, or for what is no kind', () => {
    machine([]);
    vi.stubEnv('TSAMBA_ROC_DRIVER', 'opencl');
    expect(() => roc.currentDevice()).toThrow('TSAMBA_ROC_DRIVER=opencl: there is no OpenCL device (none here)');
    vi.stubEnv('TSAMBA_ROC_DRIVER', 'rocm');
    expect(() => roc.currentDevice()).toThrow(
      'TSAMBA_ROC_DRIVER=rocm names no device; auto, nvidia, opencl, hip, webgpu, cpu, simulator are possible',
    );
  });
});

describe('selectDevice', () => {
  it('takes a kind and a number', () => {
    machine([CPU, GPU('nvidia')]);
    expect(roc.selectDevice('opencl', 1).type).toBe('gpu');
    expect(chosen()).toBe('opencl 1: nvidia gpu');
    expect(() => roc.selectDevice('opencl', 2)).toThrow('there are 2, numbered from 0');
    expect(() => roc.selectDevice('hip')).toThrow("roc.selectDevice('hip'): there is no HIP device (none here)");
    expect(() => roc.selectDevice('gpu' as never)).toThrow(
      "roc.selectDevice('gpu') names no device; the number of one of roc.agents, 'nvidia', 'opencl', 'hip', 'webgpu', 'cpu', 'simulator' are possible",
    );
    expect(() => roc.selectDevice('opencl', -1)).toThrow('numbered from 0');
  });

  it('lists all agents without opening those that are hardware', () => {
    const [opencl, hip] = [provider('opencl', [GPU('amd'), CPU]), provider('hip', [])];
    for (const one of [opencl, hip]) registerProvider(one);
    expect(agents.map(({ kind, index }) => `${kind} ${index}`)).toEqual([
      'opencl 0',
      'opencl 1',
      'cpu 0',
      'simulator 0',
    ]);
    expect(opencl.opened).toEqual([]);
    roc.selectDevice('cpu');
    agents[1]?.activate(() => expect(chosen()).toBe('opencl 1: other cpu'));
    expect(roc.currentDevice().kind).toBe('cpu');
  });
});

describe('contexts', () => {
  it('are not those of cuda, on the same hardware neither', () => {
    machine([]);
    roc.selectDevice('cpu');
    devices.selectDevice('cpu');
    expect(roc.currentContext()).not.toBe(devices.currentContext());
    const mine = deviceArray(3);
    expect(mine.context).toBe(roc.currentContext());
    devices.close();
    expect(mine.disposed).toBe(false);
    const theirs = devices.currentContext();
    roc.close();
    expect(mine.disposed).toBe(true);
    expect(theirs.closed).toBe(false);
  });
});
