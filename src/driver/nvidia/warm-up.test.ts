import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import '../../cuda/index.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { knownContexts, type Observer, observing } from '../../profile/observing.ts';
import { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { REQUIRED } from '../cuda-api/functions.ts';
import type { DeviceDriver } from '../driver.ts';
import { rehearsal } from '../rehearsal.ts';
import { deviceInfo } from './device.testing.ts';
import { NvidiaDriver } from './device.ts';
import { CUDA_VOCABULARY } from './result.ts';
import { startDriver, warmUp } from './warm-up.ts';

/** A driver that is starting: notes what is called off-thread, and must not be called otherwise; `counted` is what it answers to the first question. */
function driver(counted: number): { readonly cuda: Cuda; readonly later: unknown[][]; readonly called: string[] } {
  const later: unknown[][] = [];
  const called: string[] = [];
  const functions = Object.keys(REQUIRED).map((name) => [
    name,
    () => {
      called.push(name);
      return counted;
    },
  ]);
  const cuda = {
    ...Object.fromEntries(functions),
    ffi: loadFfi().ffi,
    version: 13000,
    vocabulary: CUDA_VOCABULARY,
    later: async (...args: unknown[]) => {
      later.push(args);
      throw new Error('the call cannot be made');
    },
  };
  return { cuda: cuda as unknown as Cuda, later, called };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('while the driver starts', () => {
  it('kernels are launched all the way, and the driver is not called', () => {
    const { cuda, called } = driver(3);
    const launched: string[] = [];
    const { run } = rehearsal;
    rehearsal.run = (device: DeviceDriver): void => {
      const load = device.load?.bind(device);
      Object.assign(device, {
        load: (program: never) => {
          const executable = load?.(program) as NonNullable<ReturnType<NonNullable<typeof load>>>;
          const launch = executable.launch.bind(executable);
          executable.launch = (...args) => {
            launch(...args);
            launched.push(String(executable.inspect('ptx')));
          };
          return executable;
        },
      });
      run?.(device);
    };
    try {
      warmUp(cuda);
    } finally {
      rehearsal.run = run;
    }
    expect(called).toEqual([]);
    expect(launched.length).toBeGreaterThan(1);
    expect(launched[1]).toMatch(/ld\.global[\s\S]+sqrt\.rn\.f32[\s\S]+st\.global/);
  });

  it('nothing is kept on disk, and nothing is said', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsamba-rehearsal-'));
    vi.stubEnv('TSAMBA_CACHE_DIR', folder);
    const said = vi.spyOn(process, 'emitWarning');
    warmUp(driver(3).cuda);
    expect(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())).toEqual([]);
    expect(said).not.toHaveBeenCalled();
  });

  it('who looks at the program sees nothing of it', () => {
    const seen: unknown[] = [];
    const note = (what: unknown): never => {
      seen.push(what);
      throw new Error('somebody looked');
    };
    observing.current = { enqueue: note, spend: note, begin: note, mark: note, opened: note } as unknown as Observer;
    const before = knownContexts().length;
    try {
      warmUp(driver(3).cuda);
    } finally {
      observing.current = undefined;
    }
    expect(seen).toEqual([]);
    expect(knownContexts()).toHaveLength(before);
  });

  it('a device that is then opened has nothing of it', () => {
    warmUp(driver(3).cuda);
    const model = new CudaModel();
    const device = new NvidiaDriver(model.cuda, { device: 0, info: deviceInfo, memoryPools: false });
    device.free(device.allocate(64));
    expect(model.calls).toContain('cuDevicePrimaryCtxRetain');
    expect(model.calls).toContain('cuCtxSetCurrent');
    device.close();
    expect(model.live).toBe(0);
  });

  it('cuInit runs on another thread, and its failure is left to the call that waits for it', async () => {
    const { cuda, later, called } = driver(3);
    startDriver(cuda);
    await new Promise((resolve) => setImmediate(resolve));
    expect(later).toEqual([['cuInit', 0]]);
    expect(called).toEqual(['cuDeviceGetCount']);
  });

  it('nothing is done where another thread has started it', () => {
    const { cuda, later } = driver(0);
    startDriver(cuda);
    expect(later).toEqual([]);
  });
});
