/**
 * Chapter: devices and contexts: what they say about themselves, and how everything on one is given up.
 */
import { cuda, f32, type i32, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

export const devices: readonly ConformanceTest[] = chapter('devices', {
  'currentDevice says what it is': () => {
    const device = cuda.currentDevice();
    throws(() => cuda.selectDevice('abacus' as never), new RegExp(`'${device.kind}'.* are possible`), 'E_DEVICE');
    same(device.name.length > 0, true, 'it has a name');
    same(Number.isInteger(device.index) && device.index >= 0, true, 'it has a number');
    same(device.kind === 'nvidia', device.computeCapability !== undefined, 'a compute capability');
  },
  'limits are those of a device that can run the suite': () => {
    const { limits } = cuda.currentDevice();
    same(limits.maxThreadsPerBlock >= 1024, true, 'threads in a block');
    same(limits.maxBlockDim[0] >= 1024 && limits.maxBlockDim[2] >= 64, true, 'the axes of a block');
    same(limits.maxGridDim[0] >= 2 ** 31 - 1 && limits.maxGridDim[1] >= 65535, true, 'the axes of a grid');
    same(limits.maxSharedBytesPerBlock >= 48 * 1024, true, 'shared memory');
    same(limits.warpSize === 32 || limits.warpSize === 64, true, 'the warp');
    same(limits.totalMemory > 2 ** 20, true, 'memory');
  },
  'gpus are NVIDIA GPUs, and isAvailable says whether there are any': () => {
    same(cuda.isAvailable(), cuda.gpus.length > 0);
  },
  'selectDevice of what there is not': () => {
    const select = cuda.selectDevice as (choice: unknown) => unknown;
    const before = cuda.currentDevice().kind;
    throws(() => select('gpu'), /'gpu'.* names no device/, 'E_DEVICE');
    throws(() => select(-1), /-1.* names no device/, 'E_DEVICE');
    throws(() => select(1.5), /1\.5.* names no device/, 'E_DEVICE');
    throws(() => select(undefined), /names no device/, 'E_DEVICE');
    throws(() => select(4096), /no NVIDIA GPU/, 'E_NO_GPU');
    same(cuda.currentDevice().kind, before);
  },
  'reset gives up arrays, streams and events, and kernels go on': async () => {
    const fill = cuda.jit((a: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < a.length) a[k] = k;
    });
    const context = cuda.currentContext();
    const a = cuda.deviceArray(3, 'int32');
    const [stream, event] = [cuda.stream(), cuda.event()];
    await launch(fill, { threads: 3 }, a);
    context.reset();
    same(a.disposed && stream.disposed && event.disposed, true, 'all are disposed');
    same(cuda.memoryStats().live, 0);
    await rejects(() => read(a), /its context was reset/);
    await rejects(() => settled(stream), /its context was reset/);
    throws(() => event.record(), /its context was reset/);
    await rejects(() => launch(fill, { threads: 3 }, a), /argument 1 \(`[\w$]+`\).*its context was reset/);
    a.dispose();
    const b = cuda.deviceArray(3, 'int32');
    await launch(fill, { threads: 3 }, b);
    sameElements(await read(b), [0, 1, 2]);
  },
  'reset gives up captured arrays: the kernel says so until it is recompiled': async () => {
    let table = cuda.toDevice(Float32Array.of(1, 2));
    const kernel = cuda.jit((y: Vec<f32>) => {
      const k = cuda.grid(1);
      y[k] = (table as unknown as Vec<f32>)[k] * 2;
    });
    const before = cuda.deviceArray(2, f32);
    await launch(kernel, { grid: 1, block: 2 }, before);
    sameElements(await read(before), [2, 4]);
    cuda.currentContext().reset();
    const y = cuda.deviceArray(2, f32);
    await rejects(() => launch(kernel, { grid: 1, block: 2 }, y), /table|reset/);
    table = cuda.toDevice(Float32Array.of(5, 6));
    kernel.recompile();
    await launch(kernel, { grid: 1, block: 2 }, y);
    sameElements(await read(y), [10, 12]);
  },
  'arrays and streams do not cross threads': () => {
    throws(() => structuredClone(cuda.deviceArray(1)), /worker|thread|clone/i);
    throws(() => structuredClone(cuda.stream()), /worker|thread|clone/i);
  },
});
