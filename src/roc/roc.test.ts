/**
 * The namespace `roc` as an object, its vocabulary on the host, and its old name.
 */
import { describe, expect, it, vi } from 'vitest';
import { hostOnlyOf, intrinsicName } from '../compiler/intrinsics.ts';
import { hasRocm } from '../driver/hip/amd.testing.ts';
import { cuda, f32, hsa, roc, type Vec } from '../index.ts';
import * as named from './index.ts';
import { jit } from './index.ts';

const VOCABULARY = [
  'getGlobalId',
  'getLocalId',
  'getGroupId',
  'getNumGroups',
  'getGlobalSize',
  'getLocalSize',
  'getWorkDim',
  'barrier',
  'memFence',
  'waveBarrier',
  'shared.array',
  'dsPermute',
  'dsBpermute',
  'activeLanePermuteWaveWidth',
  ...Object.keys(cuda.atomic).map((name) => `atomic.${name}`),
];

const at = (path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], roc);

describe('the namespace', () => {
  it('is a frozen plain object', () => {
    expect(Object.isFrozen(roc)).toBe(true);
    expect(Object.getPrototypeOf(roc)).toBe(Object.prototype);
    for (const inner of [roc.shared, roc.atomic]) expect(Object.isFrozen(inner)).toBe(true);
  });

  it('holds what is also exported by name', () => {
    expect(Object.keys({ ...named }).sort()).toEqual([...Object.keys(roc), 'roc', 'hsa'].sort());
    for (const [name, value] of Object.entries(roc)) expect((named as Record<string, unknown>)[name]).toBe(value);
  });

  it.each(VOCABULARY)('knows %s as an intrinsic', (path) => {
    expect(intrinsicName(at(path))).toBe(`roc.${path}`);
  });

  it('knows of every other function that it is for the host', () => {
    jit(() => {});
    for (const [name, member] of Object.entries(roc)) {
      if (typeof member !== 'function' || intrinsicName(member) !== undefined) continue;
      expect(hostOnlyOf(member)?.what).toMatch(new RegExp(`^(roc|cuda)\\.${name}$`));
    }
  });

  it('says on the host that intrinsics belong in kernels, by the name that was used', () => {
    expect(() => roc.getGlobalId(0)).toThrow(
      'roc.getGlobalId only works inside a kernel: call it in a function that is passed to roc.jit, not on the host',
    );
    expect(() => roc.barrier()).toThrow('roc.barrier only works');
    expect(() => roc.shared.array(4, f32)).toThrow('roc.shared.array only works');
  });
});

describe('hsa', () => {
  it('says nothing before it is used', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    vi.resetModules();
    const fresh = await import('../index.ts');
    expect('hsa' in fresh && fresh.roc !== roc).toBe(true);
    expect(warn).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('is roc, and warns once', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(hsa.getGlobalId).toBe(roc.getGlobalId);
    expect(hsa.CLK_GLOBAL_MEM_FENCE).toBe(1);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('old name of `roc`'), {
      type: 'DeprecationWarning',
      code: 'TSAMBA_HSA',
    });
    vi.restoreAllMocks();
  });

  it('works in kernels as well', () => {
    roc.selectDevice('cpu');
    const fill = hsa.jit((a: Vec<f32>) => {
      const i = hsa.getGlobalId(0);
      if (i < a.length) a[i] = i;
    });
    const d = hsa.deviceArray(4, f32);
    fill.launch({ grid: 1, block: 4 }, d);
    expect([...d.copyToHost()]).toEqual([0, 1, 2, 3]);
    roc.close();
  });
});

describe('kernels of roc', () => {
  it('are kernels: no other jit takes them, and no kernel calls them', () => {
    roc.selectDevice('cpu');
    const kernel = roc.jit((a: Vec<f32>) => {
      a[0] = 1;
    });
    expect(() => roc.jit(kernel as never)).toThrow('is a kernel already');
    expect(() => cuda.jit(kernel as never)).toThrow('is a kernel already');
    expect(String(kernel)).toBe('Kernel(kernel, 0 compiled)');
    expect(() => kernel.attributes()).toThrow('has not been compiled yet');
    kernel.compile(Float32Array.of(1));
    expect(kernel.stats.specialisations.map(({ signature }) => signature)).toEqual(['kernel(f32[::1])']);
    expect(kernel.inspect({ target: 'ir' })).toContain('global a: f32[]');
    expect(kernel.name).toBe('kernel');
    kernel.recompile();
    expect(kernel.stats.specialisations).toEqual([]);
    const outer = roc.jit((a: Vec<f32>) => kernel.launch({ threads: 1 }, a as never));
    expect(() => outer.compile(Float32Array.of(1))).toThrow('a kernel cannot launch another one');
    roc.close();
  });

  it.skipIf(!hasRocm())('show the instructions of AMD GPUs', { timeout: 300_000 }, () => {
    roc.selectDevice('cpu');
    const reverse = roc.jit((a: Vec<f32>) => {
      const s = roc.shared.array(64, f32);
      const t = roc.getLocalId(0);
      s[t] = a[t];
      roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      a[t] = s[63 - t] + roc.dsBpermute(t + 1, s[t]);
    });
    reverse.compile(Float32Array.of(1));
    for (const arch of ['gfx90a', 'gfx1030']) {
      const text = reverse.inspect({ target: 'amdgcn', arch });
      expect(text).toContain('s_barrier');
      expect(text).toMatch(/ds_(write|store)_b32/);
    }
    roc.close();
  });

  it('warn of host arrays with the names of roc', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    roc.selectDevice('cpu');
    const kernel = roc.jit((a: Vec<f32>) => {
      a[0] = 1;
    });
    kernel.launch({ grid: 1, block: 1 }, new Float32Array(1));
    expect(warn.mock.calls[0]?.[0]).toContain('const d = roc.toDevice(a)');
    roc.close();
    vi.restoreAllMocks();
  });
});
