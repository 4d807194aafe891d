/**
 * Which code launches run by: quick code at first, the full one where that pays.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as ir from '../../compiler/ir/builder.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { WasmModule, WasmVariant } from '../../compiler/render/wasm/module.ts';
import { wasmPipeline } from './compile.ts';
import type { CpuOptions } from './engine.ts';
import { openCpu } from './index.ts';

/** Each thread adds one to an element of its own, `rounds` times. */
function counting(): Kernel {
  const b = new ir.KernelBuilder('counting');
  const out = b.global('i32', 'out');
  const rounds = b.value('i32', 'rounds');
  const [i, k, label] = [b.variable('i32', 'i'), b.variable('i32', 'k'), b.label()];
  const place = ir.add(ir.mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), ir.special('threadIdx.x'));
  const element = ir.at(out, ir.read(i));
  return b.build([
    ir.assign(i, place),
    ir.assign(k, ir.i32(0)),
    ir.loop(
      label,
      [
        ir.ifElse(ir.ge(ir.read(k), rounds), [ir.breakTo(label)]),
        ir.store(element, ir.add(ir.load(element), ir.i32(1))),
      ],
      [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
    ),
  ]);
}

/** The same with the number of rounds in memory. */
function asking(): Kernel {
  const b = new ir.KernelBuilder('asking');
  const out = b.global('i32', 'out');
  const rounds = b.value('i32', 'rounds');
  const [i, k] = [b.variable('i32', 'i'), b.variable('i32', 'k')];
  const label = b.label();
  const element = ir.at(out, ir.read(i));
  const place = ir.add(ir.mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), ir.special('threadIdx.x'));
  const one = ir.binary('max', ir.binary('and', ir.load(element), ir.i32(2 ** 30)), rounds);
  return b.build([
    ir.assign(i, place),
    ir.assign(k, ir.i32(0)),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(ir.read(k), one), [ir.breakTo(label)]), ir.store(element, ir.add(ir.load(element), ir.i32(1)))],
      [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
    ),
  ]);
}

/** The same without a loop. */
function straight(): Kernel {
  const b = new ir.KernelBuilder('straight');
  const out = b.global('i32', 'out');
  const rounds = b.value('i32', 'rounds');
  const place = ir.add(ir.mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), ir.special('threadIdx.x'));
  const element = ir.at(out, place);
  return b.build([ir.store(element, ir.add(ir.load(element), rounds))]);
}

/** The kernel with its last parameter an extent along this axis. */
function withExtent({ params, ...kernel }: Kernel, axis: number): Kernel {
  const origin = { kind: 'extent', path: [0], axis } as const;
  return { ...kernel, params: params.map((p, k) => (k === params.length - 1 ? { ...p, origin } : p)) };
}

interface Opened {
  /** What was compiled, in order. */
  readonly compiled: readonly ('full' | 'quick' | 'scalar')[];
  /** The constants among the parameters, each time. */
  readonly known: readonly (number | undefined)[];
  /** Whether arrays that are only read were taken to be apart from others, each time. */
  readonly apart: readonly boolean[];
  launch(rounds: number, ...more: readonly number[]): void;
  /** The same by a promise. */
  launchLater(rounds: number): Promise<void>;
  /** The values that elements have. */
  read(): number[];
}

/** A device that notes what it compiles, with an array of `n` elements and a way to launch. */
function open(n: number, options: CpuOptions = {}, made: Kernel = counting()): Opened {
  const compiled: Opened['compiled'][number][] = [];
  const known: Opened['known'][number][] = [];
  const apart: boolean[] = [];
  const compile = (kernel: Kernel, variant: WasmVariant): WasmModule => {
    compiled.push(variant.quick !== true ? 'full' : variant.lanes === 1 ? 'scalar' : 'quick');
    known.push(variant.known?.get(1));
    apart.push(variant.apart !== undefined);
    return wasmPipeline.compile(kernel, variant);
  };
  const device = openCpu({ threads: 1, ...options, pipeline: { ...wasmPipeline, compile } });
  const executable = device.load({ kernel: made });
  const pointer = device.allocate(4 * n);
  const ones = new Int32Array(n);
  device.copyToDevice(pointer, new Uint8Array(ones.buffer));
  const shape = { grid: [n / 32, 1, 1], block: [32, 1, 1], sharedBytes: 0 } as const;
  const launch = (rounds: number, ...more: readonly number[]): void =>
    executable.launch(shape, [pointer, rounds, ...more], undefined);
  const launchLater = async (rounds: number): Promise<void> =>
    executable.launchLater?.(shape, [pointer, rounds], undefined, undefined).done;
  const read = (): number[] => {
    device.copyToHost(new Uint8Array(ones.buffer), pointer);
    return [...new Set(ones)];
  };
  return { compiled, known, apart, launch, launchLater, read };
}

/** What launches take by the tests' own clock: what a busy machine takes must not decide. */
let launchMs: number;

beforeEach(() => {
  let clock = 0;
  launchMs = 0.001;
  vi.spyOn(performance, 'now').mockImplementation(() => (clock += launchMs));
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('code for arrays that are apart', () => {
  /** `out[2 * i] = x[2 * i] + 1; out[2 * i + 1] = x[2 * i + 1] + x[2 * i]`, of which a launch says what is where. */
  const pairs = (): Kernel => {
    const b = new ir.KernelBuilder('pairs');
    const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
    const i = ir.special('threadIdx.x');
    const two = ir.mul(i, ir.i32(2));
    const [sum, next] = [b.variable('i32', 'sum'), b.variable('i32', 'next')];
    return b.build([
      ir.assign(sum, ir.add(ir.load(ir.at(x, two)), ir.i32(1))),
      ir.store(ir.at(out, two), ir.read(sum)),
      ir.assign(next, ir.add(ir.load(ir.at(x, ir.add(two, ir.i32(1)))), ir.load(ir.at(x, two)))),
      ir.store(ir.at(out, ir.add(two, ir.i32(1))), ir.read(next)),
    ]);
  };

  it('is not what launches run whose arrays overlap', () => {
    const apart: (readonly number[] | undefined)[] = [];
    const compile = (kernel: Kernel, variant: WasmVariant): WasmModule => {
      apart.push(variant.apart && [...variant.apart]);
      return wasmPipeline.compile(kernel, variant);
    };
    const device = openCpu({ threads: 1, quick: false, pipeline: { ...wasmPipeline, compile } });
    const executable = device.load({ kernel: pairs() });
    const pointer = device.allocate(4 * 256);
    const bytes = new Uint8Array(Int32Array.from({ length: 256 }, (_, k) => k).buffer);
    device.copyToDevice(pointer, bytes);
    const launch = (from: number, to: number, aliased?: boolean): void => {
      const shape = { grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 0, aliased } as const;
      executable.launch(shape, [Number(pointer) + 4 * from, Number(pointer) + 4 * to], undefined);
    };
    launch(0, 128);
    launch(0, 0, true);
    launch(0, 128, false);
    launch(128, 128, true);
    expect(apart).toEqual([[0], undefined]);
    device.copyToHost(bytes, pointer);
    const found = new Int32Array(bytes.buffer);
    expect([...found.subarray(0, 6)]).toEqual([1, 2, 3, 6, 5, 10]);
    expect([...found.subarray(128, 134)]).toEqual([3, 6, 5, 14, 7, 22]);
    device.close();
  });

  it('is asked for where a thread stores more than once', () => {
    const { apart, launch } = open(32, { quick: false }, straight());
    launch(1);
    expect(apart).toEqual([false]);
    const rounds = open(32, { quick: false }, counting());
    rounds.launch(1);
    expect(rounds.apart).toEqual([true]);
  });
});

describe('the code of launches', () => {
  it('is quick at first, and full when launches have taken long', () => {
    const { compiled, launch, read } = open(256, {}, asking());
    for (let k = 0; k < 4; k++) launch(1);
    expect(compiled).toEqual(['quick']);
    launchMs = 0.3;
    for (let k = 0; k < 20; k++) launch(1);
    expect(compiled).toEqual(['quick', 'full']);
    expect(read()).toEqual([24]);
  });

  it('is scalar at first where the arguments say that loops are short', () => {
    const { compiled, launch, read } = open(256);
    for (let k = 0; k < 4; k++) launch(3);
    expect(compiled).toEqual(['scalar']);
    launchMs = 0.3;
    for (let k = 0; k < 20; k++) launch(3);
    expect(compiled).toEqual(['scalar', 'full']);
    expect(read()).toEqual([72]);
  });

  it('is full for a launch that is long by its arguments, if it is the first or not', () => {
    const first = open(256);
    first.launch(10_000);
    expect(first.compiled).toEqual(['full']);
    const second = open(256);
    second.launch(1);
    second.launch(100_000);
    expect(second.compiled).toEqual(['scalar', 'full']);
    expect(second.read()).toEqual([100_001]);
  });

  it('is full for a launch by a promise that is long by its arguments, after a short one', async () => {
    const { compiled, launchLater, read } = open(256);
    await launchLater(1);
    await launchLater(100_000);
    expect(compiled).toEqual(['scalar', 'full']);
    expect(read()).toEqual([100_001]);
  });

  it('is full at once for launches that are long by their size', () => {
    const { compiled, launch, read } = open(2 ** 20);
    launch(1);
    launch(1);
    expect(compiled).toEqual(['full']);
    expect(read()).toEqual([2]);
  });

  it('is scalar at first where the launch is expected to be very short', () => {
    const { compiled, launch, read } = open(256, {}, straight());
    launch(2);
    launch(3);
    expect(compiled).toEqual(['scalar']);
    expect(read()).toEqual([5]);
  });

  it('is quick at first where threads wait for each other', () => {
    const { body, ...kernel } = straight();
    const { compiled, launch } = open(256, {}, { ...kernel, body: [ir.barrier(), ...body] });
    launch(2);
    expect(compiled).toEqual(['quick']);
  });

  it.each([
    ['a device that is to use vectors', 256, { scalarFirst: false }],
    ['more threads', 2 ** 14, {}],
  ] as const)('is quick at first for %s', (_, n, options) => {
    const { compiled, launch } = open(n, options, straight());
    launch(2);
    expect(compiled).toEqual(['quick']);
  });

  it('is full where that is asked for', () => {
    const { compiled, launch } = open(256, { quick: false });
    launch(1);
    expect(compiled).toEqual(['full']);
  });
});

describe('code for short rows', () => {
  it('is made for each length, and found again', () => {
    const { known, launch, read } = open(256, {}, withExtent(counting(), 1));
    for (const rounds of [3, 4, 3, 3, 16, 4, 17, 1000, 3]) launch(rounds);
    expect(known).toEqual([3, 4, 16, undefined]);
    expect(read()).toEqual([3 + 4 + 3 + 3 + 16 + 4 + 17 + 1000 + 3]);
  });

  it('is not made for more than four lengths', () => {
    const { known, launch, read } = open(256, {}, withExtent(counting(), 1));
    for (let rounds = 1; rounds <= 16; rounds++) launch(rounds);
    launch(2);
    expect(known).toEqual([1, 2, 3, 4, undefined]);
    expect(read()).toEqual([136 + 2]);
  });

  it.each([
    ['the number of elements or rows', withExtent(counting(), 0)],
    ['a number', counting()],
  ])('is not made for %s', (_, kernel) => {
    const { known, launch, read } = open(256, {}, kernel);
    for (const rounds of [3, 4]) launch(rounds);
    expect(known).toEqual([undefined]);
    expect(read()).toEqual([7]);
  });

  it('is not made where a later axis is long', () => {
    const made = counting();
    const [out, rounds] = made.params;
    const axis = (n: number) => ({ origin: { kind: 'extent', path: [0], axis: n } as const });
    const columns = { ...rounds, ...axis(2), index: 2, name: 'columns' } as (typeof made.params)[number];
    const params = [out, { ...rounds, ...axis(1) }, columns] as typeof made.params;
    const { known, launch } = open(256, {}, { ...made, params });
    for (const [n, m] of [
      [3, 4],
      [3, 100],
      [5, 17],
      [3, 4],
    ] as const)
      launch(n, m);
    expect(known).toEqual([3, undefined]);
  });

  it('replaces the first code by code for the same rows', () => {
    launchMs = 0.3;
    const { compiled, known, launch } = open(256, {}, withExtent(counting(), 1));
    for (let k = 0; k < 20; k++) launch(3);
    expect(compiled).toEqual(['scalar', 'full']);
    expect(known).toEqual([3, 3]);
  });
});
