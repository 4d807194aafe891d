/**
 * Several GPUs: contexts of their own, kernels on each, and copies from one to the other.
 */
import { cuda, f32, i32, ndarray, type Vec } from '../../src/index.ts';
import { same, sameElements } from '../../testsuite/assert.ts';
import { type GpuModule, skip } from './suite.ts';

type Gpu = (typeof cuda.gpus)[number];

function two(): readonly [Gpu, Gpu] {
  const [first, second] = cuda.gpus;
  if (first === undefined || second === undefined) skip(`this machine has ${cuda.gpus.length} GPU`);
  return [first, second];
}

const count = cuda.jit((v: Vec<i32>, times: number) => {
  const k = cuda.grid(1);
  if (k >= v.length) return;
  let s = v[k] as number;
  for (let i = 0; i < times; i++) s = (s + 1) | 0;
  v[k] = s;
});

export const deviceTests: GpuModule = {
  chapter: 'nvidia devices',
  tests: [
    {
      name: 'gpus and detect() say what there is',
      run: () => {
        const [gpu] = cuda.gpus;
        same(gpu?.kind, 'nvidia');
        same(/^GPU-[0-9a-f-]{36}$/.test(gpu?.uuid ?? ''), true, `uuid ${gpu?.uuid}`);
        same(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$/.test(gpu?.pciBusId ?? ''), true, `PCI ${gpu?.pciBusId}`);
        same(cuda.detect(), true);
        return `${cuda.gpus.length} × ${gpu?.name}, ${gpu?.driverVersion}`;
      },
    },
    {
      name: 'kernels on two GPUs',
      run: () => {
        const gpus = two();
        const arrays = gpus.map((gpu) => gpu.activate(() => cuda.toDevice(new Int32Array(1000))));
        gpus.forEach((gpu, k) => {
          gpu.activate(() => count.launch({ threads: 1000 }, arrays[k] as never, 10 + k));
        });
        arrays.forEach((array, k) => {
          sameElements(array.copyToHost().subarray(990), new Int32Array(10).fill(10 + k));
          array.dispose();
        });
      },
    },
    {
      name: 'copies between two GPUs, of any layout and in order',
      run: () => {
        const [first, second] = two();
        const cells = Int32Array.from({ length: 60 }, (_, k) => k);
        const source = first.activate(() => cuda.toDevice(ndarray(cells, { shape: [6, 10] })));
        const target = second.activate(() => cuda.deviceArray([6, 10], i32));
        target.copyToDevice(source);
        sameElements(target.reshape(-1).copyToHost() as Int32Array, cells);
        target.slice('::2', '1::3').copyToDevice(source.slice('::-2', '7:0:-3').slice(':', ':3'));
        const [stream, other] = [first.activate(() => cuda.stream()), second.activate(() => cuda.stream())];
        const long = first.activate(() => cuda.toDevice(new Int32Array(1 << 20), { stream }));
        const result = second.activate(() => cuda.deviceArray(1 << 20, i32));
        first.activate(() => count.launch({ threads: 1 << 20, stream }, long, 100_000));
        result.copyToDevice(long, { stream: other });
        // What comes later on the source's stream does not overtake the copy.
        long.set(0);
        other.synchronize();
        sameElements(result.slice('1048570:').copyToHost(), new Int32Array(6).fill(100_000));
        stream.synchronize();
        for (const each of [source, target, long, result, stream, other]) each.dispose();
      },
    },
    {
      name: 'copies between two GPUs are as fast as their connection',
      run: () => {
        const [first, second] = two();
        const length = 64 << 20;
        const source = first.activate(() => cuda.deviceArray(length, f32));
        const target = second.activate(() => cuda.deviceArray(length, f32));
        target.copyToDevice(source);
        const start = performance.now();
        for (let k = 0; k < 10; k++) target.copyToDevice(source);
        const seconds = (performance.now() - start) / 1000;
        source.dispose();
        target.dispose();
        return `${((10 * 4 * length) / seconds / 1e9).toFixed(0)} GB/s`;
      },
    },
  ],
};
