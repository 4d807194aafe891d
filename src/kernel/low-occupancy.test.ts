import { afterEach, describe, expect, it, vi } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { cudaDevices } from '../memory/devices.ts';
import { checkLaunch } from './launch-shape.ts';
import { Launcher } from './launcher.ts';
import { checkOptions } from './options.ts';
import { KernelState } from './state.ts';

cuda.selectDevice('cpu');

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const gpu = (kind: string, more = {}): never =>
  ({ info: { kind, name: 'A GPU', limits: { multiprocessors: 132 }, ...more } }) as never;

/** What a kernel of its own warns of launches with these grids. */
function warningsOf(context: never, ...grids: readonly (number | readonly [number, number])[]): string[] {
  const seen: string[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation((text) => void seen.push(String(text)));
  const launcher = new Launcher(new KernelState(function busy() {}, checkOptions({})), cudaDevices);
  for (const grid of grids) {
    const shape = checkLaunch({ grid, block: 32 }, cuda.currentContext(), { launchBounds: undefined });
    if (shape !== undefined) launcher.noteShape(shape, context);
  }
  return seen;
}

describe('grids that leave a GPU idle', () => {
  it('are warned of, once a kernel', () => {
    expect(warningsOf(gpu('nvidia'), 132, 4, 8)).toEqual([
      'busy runs 4 blocks on A GPU, which has 132 multiprocessors: 128 of them stay idle. Launch more blocks, with fewer threads in each or less ' +
        'work for each thread. TSAMBA_WARN_LOW_OCCUPANCY=0 silences this',
    ]);
    expect(warningsOf(gpu('hip'), 1)[0]).toMatch(/^busy runs 1 block on/);
    expect(warningsOf(gpu('opencl', { hardware: { type: 'gpu' } }), [2, 2])).toHaveLength(1);
  });

  it('are not where the grid is large enough, nor on processors', () => {
    expect(warningsOf(gpu('nvidia'), 132, [66, 2])).toEqual([]);
    expect(warningsOf(gpu('cpu'), 1)).toEqual([]);
    expect(warningsOf(gpu('opencl', { hardware: { type: 'cpu' } }), 1)).toEqual([]);
  });

  it.each(['TSAMBA_WARN_LOW_OCCUPANCY', 'NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS'])('are not where %s is 0', (name) => {
    vi.stubEnv(name, '0');
    expect(warningsOf(gpu('nvidia'), 1)).toEqual([]);
  });
});

describe('clusters', () => {
  const kernel = cuda.jit(
    (y: Int32Array) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = cuda.gridDim.x;
    },
    { cluster: 4 },
  );

  it('are what grids are made of', () => {
    const y = cuda.deviceArray(100, 'int32');
    expect(() => kernel.launch({ grid: 6, block: 32 }, y as never)).toThrow(
      'grid (6) is not made of whole clusters: the option cluster of this kernel says (4), so',
    );
    kernel.launch({ grid: 8, block: 16 }, y as never);
    expect(y.get(0)).toBe(8);
    kernel.launch({ threads: 100, block: 20 }, y as never);
    expect(y.get(99)).toBe(8);
    kernel.launch({ threads: 100 }, y as never);
    expect(Number(y.get(0)) % 4).toBe(0);
  });

  it('are in the PTX of GPUs that have them', () => {
    expect(kernel.inspect({ target: 'ptx', arch: 'sm_90' })).toMatch(
      /^\.version 7\.8$[\s\S]*^\.reqnctapercluster 4, 1, 1$/m,
    );
    expect(kernel.inspect({ target: 'ptx', arch: 'sm_80' })).not.toContain('cluster');
  });

  it('and carve-outs are checked', () => {
    const made =
      (options: object): (() => unknown) =>
      () =>
        cuda.jit(() => {}, options);
    expect(made({ cluster: [4, 4] })).toThrow('cluster has at most 8 blocks, got');
    expect(made({ cluster: 'many' })).toThrow(/cluster/);
    expect(made({ sharedCarveout: 101 })).toThrow("sharedCarveout is a percentage, 'shared' or 'l1', got 101");
    expect(made({ sharedCarveout: 'l1' })).not.toThrow();
  });
});
