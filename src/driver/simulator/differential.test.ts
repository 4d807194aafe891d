/** Random kernels without races: the simulator and the CPU device leave the bytes that the reference interpreter leaves. */
import { describe, expect, it } from 'vitest';
import { add, at, barrier, i32, mul, special, store } from '../../compiler/ir/builder.ts';
import { interpret } from '../../compiler/ir/interpret.ts';
import type { Stmt } from '../../compiler/ir/ops.ts';
import { eachStmt, hasReturn, someExpr, someStmt, stmtExprs } from '../../compiler/ir/passes/walk.ts';
import { randomSample, type Sample } from '../../compiler/ir/testing.ts';
import type { SourceText } from '../../compiler/source.ts';
import { openCpu } from '../cpu/index.ts';
import type { BlockingDriver } from '../driver.ts';
import { simulatorProvider } from './index.ts';

/** The same kernel with its shared and local memory set to zero first: on a device it starts as it was left. */
function initialised(sample: Sample): Sample {
  const { kernel, launch } = sample;
  const [x, y] = launch.block;
  const inPlane = add(special('threadIdx.y'), mul(i32(y), special('threadIdx.z')));
  const own = add(special('threadIdx.x'), mul(i32(x), inPlane));
  const stores = kernel.arrays.flatMap((array) => {
    if (array.space === 'shared') return [store(at(array, own), i32(0))];
    if (array.space !== 'local') return [];
    return Array.from({ length: array.length ?? 0 }, (_, i) => store(at(array, i32(i)), i32(0)));
  });
  return { ...sample, kernel: { ...kernel, body: [...stores, barrier(), ...kernel.body] } };
}

/** Random kernels that come out the same everywhere: `copysign` would show the sign of a NaN, in which devices differ. */
function* samples(from: number): Generator<[seed: number, sample: Sample]> {
  for (let seed = from; seed < from + PROGRAMS; seed++) {
    const sample = initialised(randomSample(seed));
    const showsSign = someStmt(sample.kernel.body, (s) =>
      stmtExprs(s).some((e) => someExpr(e, (inner) => inner.op === 'binary' && inner.fn === 'copysign')),
    );
    if (!showsSign) yield [seed, sample];
  }
}

/** The same kernel with its blocks as inlined functions of another file, as far as nothing jumps out of them. */
function withFunctions(sample: Sample): Sample {
  const source: SourceText = { text: 'f', name: 'f', script: { url: 'file:///f.ts', line: 0, column: 0 } };
  const pos = { source, start: 0, end: 1 };
  const change = (list: readonly Stmt[]): readonly Stmt[] =>
    list.map((s): Stmt => {
      if (s.op === 'if') return { ...s, then: change(s.then), else: change(s.else) };
      if (s.op === 'loop') return { ...s, body: change(s.body), update: change(s.update) };
      if (s.op !== 'block') return s;
      const body = change(s.body);
      if (hasReturn(body) || jumpsOut(s)) return { ...s, body };
      apart++;
      return { ...s, inlined: 'f', body: body.map((inner) => ({ ...inner, pos })) };
    });
  return { ...sample, kernel: { ...sample.kernel, body: change(sample.kernel.body) } };
}
let apart = 0;

function jumpsOut(block: Stmt): boolean {
  const inside = new Set<number>();
  eachStmt([block], (s) => {
    if (s.op === 'loop' || s.op === 'block') inside.add(s.label);
  });
  return someStmt([block], (s) => (s.op === 'break' || s.op === 'continue') && !inside.has(s.label));
}

/** What a sample leaves in memory when a device runs it. */
function runOn(device: BlockingDriver, sample: Sample): Uint8Array {
  const { kernel, launch, memory } = sample;
  const pointer = Number(device.allocate(memory.length));
  device.copyToDevice(pointer, memory);
  const args = sample.args.map((arg, i) => (kernel.params[i]?.type === 'ptr' ? pointer + Number(arg) : arg));
  const executable = device.load({ kernel });
  executable.launch({ grid: launch.grid, block: launch.block, sharedBytes: launch.sharedBytes ?? 0 }, args, undefined);
  const left = new Uint8Array(memory.length);
  device.copyToHost(left, pointer);
  executable.unload();
  device.free(pointer);
  return left;
}

function expected(sample: Sample): Uint8Array {
  const memory = sample.memory.slice();
  const { fault } = interpret(sample.kernel, sample.launch, sample.args, memory);
  expect(fault).toBeUndefined();
  return memory;
}

/** Memory as words; what may be the bits of a NaN are all alike, because devices differ in them. */
function words(memory: Uint8Array): number[] {
  return [...new Uint32Array(memory.buffer)].map((word) => ((word & 0x7fffffff) > 0x7f800000 ? Number.NaN : word));
}

const PROGRAMS = 150;

describe('random kernels', () => {
  const devices: [string, () => BlockingDriver, number][] = [
    ['the simulator', () => simulatorProvider.open(0), 0],
    ['the CPU device, scalar', () => openCpu({ lanes: 1, threads: 1 }), 10_000],
    ['the CPU device, SIMD', () => openCpu({ lanes: 4, threads: 1, scalarFirst: false }), 20_000],
    [
      'the CPU device, SIMD on two threads',
      () => openCpu({ lanes: 4, threads: 2, alwaysParallel: true, quick: false }),
      30_000,
    ],
  ];
  it('come out right on the simulator with functions as scripts of their own', () => {
    const device = simulatorProvider.open(0);
    for (const [seed, plain] of samples(40_000)) {
      const sample = withFunctions(plain);
      expect(words(runOn(device, sample)), `seed ${seed}`).toEqual(words(expected(sample)));
    }
    expect(apart).toBeGreaterThan(PROGRAMS / 10);
  });

  it.each(devices)('come out right on %s', (_, open, seeds) => {
    const device = open();
    for (const [seed, sample] of samples(seeds)) {
      expect(words(runOn(device, sample)), `seed ${seed}`).toEqual(words(expected(sample)));
    }
    device.close();
  });
});
