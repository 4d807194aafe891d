import { afterEach, describe, expect, it } from 'vitest';
import { CudaModel } from '../driver/cuda-api/cuda-model.testing.ts';
import { deviceInfo as info } from '../driver/nvidia/device.testing.ts';
import { NvidiaDriver } from '../driver/nvidia/device.ts';
import { CUDA_VOCABULARY } from '../driver/nvidia/result.ts';
import { cuda, type f32, type Vec } from '../index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';

const leave: (() => void)[] = [];
afterEach(() => {
  for (const end of leave.splice(0)) end();
});

describe('a profile on NVIDIA GPUs', () => {
  it('takes times by events of a pool, which it gives back, and leaves captures alone', async () => {
    const model = new CudaModel(CUDA_VOCABULARY);
    const driver = new NvidiaDriver(model.cuda, { device: 4000, info, memoryPools: true }, { cubins: null });
    const context = new Context(driver);
    leave.push(cudaDevices.enter(context), () => context.close());
    const calls: string[] = [];
    const api = model.cuda as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of ['cuEventCreate', 'cuEventRecord', 'cuEventDestroy', 'cuStreamBeginCapture', 'cuGraphLaunch']) {
      const call = api[name];
      if (call === undefined) continue;
      api[name] = (...args) => {
        calls.push(name);
        return call(...args);
      };
    }
    const count = (name: string): number => calls.filter((each) => each === name).length;
    const kernel = cuda.jit(
      (y: Vec<f32>) => {
        y[cuda.grid(1)] = 1;
      },
      { name: 'one', boundsCheck: false },
    );
    const stream = cuda.stream();
    const d = cuda.deviceArray(64, 'f32', { stream });
    kernel.compile(d);
    const profile = await cuda.profile(() => {
      for (let k = 0; k < 500; k++) {
        kernel.launch({ grid: 2, block: 32, stream }, d);
        if (k % 50 === 49) stream.synchronize();
      }
      const records = count('cuEventRecord');
      const graph = cuda.graph(() => {
        kernel.launch({ grid: 2, block: 32 }, d);
        kernel.launch({ grid: 2, block: 32 }, d);
      });
      expect(count('cuEventRecord')).toBe(records);
      graph.launch({ stream });
      graph.dispose();
      // The model works only when somebody waits.
      stream.synchronize();
    });
    expect(profile.events.filter(({ kind, gpu }) => kind === 'launch' && gpu !== undefined)).toHaveLength(500);
    expect(profile.events.filter(({ kind }) => kind === 'graph')).toHaveLength(1);
    expect(profile.events.filter(({ kind }) => kind === 'wait')).toHaveLength(11);
    expect(count('cuEventCreate')).toBeLessThanOrEqual(260);
    expect(count('cuEventDestroy')).toBeGreaterThanOrEqual(count('cuEventCreate') - 1);
    const before = calls.length;
    kernel.launch({ grid: 2, block: 32, stream }, d);
    expect(calls.length).toBe(before);
    context.synchronize();
  });
});
