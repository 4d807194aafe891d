import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import type { Executable, LaunchShape, RecordedWork, Work } from '../driver.ts';
import { deviceInfo } from './device.testing.ts';
import { NvidiaDriver } from './device.ts';
import { CUDA_VOCABULARY } from './result.ts';

const shape: LaunchShape = { grid: [1, 1, 1], block: [32, 1, 1], sharedBytes: 0 };

function kernelNamed(name: string): Kernel {
  const source = { text: '', name };
  return {
    name,
    params: [],
    arrays: [],
    vars: [],
    body: [],
    indexBits: 32,
    checked: false,
    contract: false,
    fastMath: false,
    pos: { source, start: 0, end: 0 },
  };
}

let number = 0;

/** A device over a model; its kernels take an i32, and write down their name and that. Those called `watched…` can fail. */
function open(): { model: CudaModel; device: NvidiaDriver; load: (name: string) => Executable; ran: string[] } {
  const model = new CudaModel(CUDA_VOCABULARY);
  const ran: string[] = [];
  const device = new NvidiaDriver(
    model.cuda,
    { device: 5000 + number++, info: deviceInfo, memoryPools: true },
    {
      cubins: null,
      pipeline: {
        compile: (kernel) => {
          const watched = kernel.name.startsWith('watched');
          return {
            text: kernel.name,
            entry: kernel.name,
            params: [{ type: 'i32', offset: 0, size: 4 }],
            launchNumber: watched ? 4 : undefined,
            paramBytes: 8,
            extraSharedBytes: 0,
            sites: [],
            faultSymbol: watched ? 'faults' : undefined,
            prints: [],
            printSymbol: undefined,
            cooperative: false,
            usesReadOnlyPath: false,
          };
        },
      },
    },
  );
  const load = (name: string): Executable => {
    model.kernels.set(name, (params) => void ran.push(`${name} ${params.getInt32(0, true)}`));
    return device.load({ kernel: kernelNamed(name) });
  };
  return { model, device, load, ran };
}

/** Work in a row on one lane. */
function inOrder(work: readonly Work[]): RecordedWork[] {
  return work.map((each, k) => ({ ...each, lane: 0, after: k === 0 ? [] : [k - 1] }));
}

function launch(executable: Executable, value: number): Work {
  return { kind: 'launch', executable, shape, args: [value] };
}

describe('graphs of recorded work', () => {
  it('are enqueued by one call, as often as is wanted', () => {
    const { model, device, load, ran } = open();
    const [a, b] = [load('a'), load('b')];
    const graph = device.prepare(inOrder([launch(a, 1), launch(b, 2), launch(a, 3)]));
    expect(graph?.kept).toBe(3);
    device.synchronize();
    expect(ran).toEqual([]);
    model.calls.length = 0;
    const stream = device.createStream();
    graph?.enqueue(stream);
    graph?.enqueue(undefined);
    expect(model.calls.filter((name) => name === 'cuLaunchKernel')).toEqual([]);
    device.synchronize();
    expect(ran).toEqual(['a 1', 'b 2', 'a 3', 'a 1', 'b 2', 'a 3']);
  });

  it('have the order that lanes were given', () => {
    const { model, device, load } = open();
    const k = load('k');
    const work: RecordedWork[] = [
      { ...launch(k, 0), lane: 0, after: [] },
      { ...launch(k, 1), lane: 1, after: [0] },
      { ...launch(k, 2), lane: 2, after: [0] },
      { ...launch(k, 3), lane: 2, after: [1, 2] },
      { ...launch(k, 4), lane: 1, after: [1] },
      { ...launch(k, 5), lane: 0, after: [3, 4] },
    ];
    device.prepare(work);
    const [graph] = model.instances.values();
    expect(graph?.after.map((places) => [...places].sort())).toEqual([[], [0], [0], [1, 2], [1], [0, 3, 4]]);
  });

  it('join lanes that nothing comes after', () => {
    const { model, device, load } = open();
    const k = load('k');
    const work: RecordedWork[] = [
      { ...launch(k, 0), lane: 1, after: [] },
      { ...launch(k, 1), lane: 2, after: [] },
    ];
    expect(device.prepare(work)?.kept).toBe(2);
    const [graph] = model.instances.values();
    expect(graph?.after).toEqual([[], []]);
  });

  it('leave no stream, event or graph behind', () => {
    const { model, device, load } = open();
    const k = load('k');
    const count = (name: string): number => model.calls.filter((each) => each === name).length;
    const before = count('cuStreamCreate') - count('cuStreamDestroy');
    const work: RecordedWork[] = [
      { ...launch(k, 0), lane: 1, after: [] },
      { ...launch(k, 1), lane: 2, after: [0] },
    ];
    const graph = device.prepare(work);
    expect(count('cuStreamCreate') - count('cuStreamDestroy')).toBe(before);
    expect(count('cuEventCreate') - count('cuEventDestroy')).toBe(0);
    expect([model.graphs.size, model.instances.size]).toEqual([0, 1]);
    graph?.destroy();
    graph?.destroy();
    expect(model.instances.size).toBe(0);
  });

  it('take other arguments in place, and another form as a new graph', () => {
    const { model, device, load, ran } = open();
    const [a, b] = [load('a'), load('b')];
    const graph = device.prepare(inOrder([launch(a, 1), launch(b, 2)]));
    const [instance] = model.instances.keys();
    graph?.enqueue(undefined);
    graph?.replace(inOrder([launch(a, 7), launch(b, 8)]));
    expect([...model.instances.keys()]).toEqual([instance]);
    graph?.enqueue(undefined);
    graph?.replace(inOrder([launch(b, 9), launch(b, 10), launch(b, 11)]));
    expect([...model.instances.keys()]).not.toEqual([instance]);
    expect(model.instances.size).toBe(1);
    graph?.enqueue(undefined);
    device.synchronize();
    expect(ran).toEqual(['a 1', 'b 2', 'a 7', 'b 8', 'b 9', 'b 10', 'b 11']);
  });

  it('enqueue kernels that can fail, and copies of host memory, one by one between them', () => {
    const { device, load, ran, model } = open();
    const [a, watched] = [load('a'), load('watched')];
    const at = Number(device.allocate(4));
    const source = Uint8Array.of(1, 2, 3, 4);
    const graph = device.prepare(
      inOrder([
        launch(a, 1),
        launch(a, 2),
        launch(watched, 3),
        { kind: 'fillStrided', fill: { target: { pointer: at, strides: [1] }, shape: [4], pattern: Uint8Array.of(9) } },
        launch(a, 4),
        { kind: 'copyToHost', target: source, source: at },
        launch(a, 5),
      ]),
    );
    expect(graph?.kept).toBe(4);
    expect(model.instances.size).toBe(2);
    const stream = device.createStream();
    graph?.enqueue(stream);
    device.synchronizeStream(stream);
    expect(ran).toEqual(['a 1', 'a 2', 'watched 3', 'a 4', 'a 5']);
    expect([...source]).toEqual([9, 9, 9, 9]);
  });

  it('are lists where the library does not capture the work', () => {
    const { model, device, load, ran } = open();
    const a = load('a');
    model.results.set('cuGraphInstantiate', 801);
    const graph = device.prepare(inOrder([launch(a, 1), launch(a, 2)]));
    expect(graph?.kept).toBe(0);
    graph?.enqueue(undefined);
    device.synchronize();
    expect(ran).toEqual(['a 1', 'a 2']);
  });

  it('say what went wrong when they are launched', () => {
    const { model, device, load } = open();
    const a = load('a');
    const graph = device.prepare(inOrder([launch(a, 1), launch(a, 2)]));
    model.results.set('cuGraphLaunch', 1);
    expect(() => graph?.enqueue(undefined)).toThrow(/cuGraphLaunch/);
  });
});
