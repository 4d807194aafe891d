import { describe, expect, it } from 'vitest';
import { isThorough } from '../../../required.testing.ts';
import * as ir from '../../ir/builder.ts';
import type { ApproxOp, Kernel, Stmt, ValueType, WarpOp } from '../../ir/ops.ts';
import { warpResult } from '../../ir/ops.ts';
import { expandNarrow } from '../../ir/passes/expand-narrow.ts';
import { expandToInt32 } from '../../ir/passes/expand-to-int32.ts';
import { randomSample } from '../../ir/testing.ts';
import { verify } from '../../ir/verify.ts';
import { randomKernel } from '../wasm/programs.testing.ts';
import { assemble, hasPtxas, merge } from './assemble.testing.ts';
import type { PtxModule, PtxOptions } from './module.ts';
import { nativeArithmetic, nativeNarrow } from './narrow.ts';
import { operatorSamples } from './operators.testing.ts';
import { renderPtx } from './render.ts';

/** The newest ISA of the assembler that the project is tested with. */
const ISA = [9, 0] as const;
/** The oldest, the one that brought most, and the newest; all of them where there is time. */
const ARCHITECTURES = isThorough() ? [75, 80, 90, 100, 120] : [75, 90, 120];

function render(kernel: Kernel, capability: number, options: Partial<PtxOptions> = {}): PtxModule {
  const expanded = expandNarrow(
    kernel,
    nativeNarrow({ capability, isa: ISA }),
    nativeArithmetic({ capability, isa: ISA }),
  );
  return renderPtx(expanded, { capability, isa: ISA }, { name: kernel.name, aliased: false, ...options });
}

const OPERATORS = operatorSamples().map((s) => s.kernel);

/** Every exchange between lanes, of every type, and the barriers. */
function together(): Kernel {
  const b = new ir.KernelBuilder('together');
  const out = b.global('i32', 'out');
  const mask = ir.u32(0xffffffff);
  const body: Stmt[] = [];
  const exchange = (fn: WarpOp, args: Parameters<typeof ir.store>[1][]): void => {
    const result = fn === 'sync' ? undefined : b.variable(warpResult(fn, args[0]?.type), 'r');
    body.push({
      op: 'warp',
      fn,
      mask: fn === 'activeMask' ? undefined : mask,
      args,
      result,
      pos: ir.NOWHERE,
    });
    if (result) body.push(ir.store({ ...ir.at(out, ir.i32(0)), elem: result.type, scale: 8 }, ir.read(result)));
  };
  for (const type of ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const) {
    for (const fn of ['shfl', 'shflUp', 'shflDown', 'shflXor'] as const)
      exchange(fn, [ir.cast(type, ir.special('laneId')), ir.i32(3)]);
    for (const fn of ['matchAny', 'matchAll'] as const) exchange(fn, [ir.cast(type, ir.special('laneId'))]);
  }
  for (const fn of ['all', 'any', 'eq', 'ballot'] as const) exchange(fn, [ir.lt(ir.special('laneId'), ir.i32(4))]);
  exchange('activeMask', []);
  exchange('sync', []);
  const count = b.variable('i32', 'count');
  for (const kind of ['count', 'and', 'or'] as const) {
    body.push(
      ir.vote(kind, ir.lt(ir.special('laneId'), ir.i32(4)), count),
      ir.store(ir.at(out, ir.i32(0)), ir.read(count)),
    );
  }
  for (const scope of ['block', 'device', 'system'] as const) body.push({ op: 'fence', scope, pos: ir.NOWHERE });
  body.push(
    { op: 'barrier', kind: 'grid', pos: ir.NOWHERE },
    { op: 'rest', nanoseconds: ir.u32(100), pos: ir.NOWHERE },
  );
  return b.build(body);
}

/** Checks of every kind, traps, and lines with values of every type. */
function reporting(): Kernel {
  const b = new ir.KernelBuilder('reporting');
  const [out, n] = [b.global('i32', 'out'), b.value('i32', 'n')];
  const [i, k, label] = [ir.special('threadIdx.x'), b.variable('i32', 'k'), b.label()];
  const values = (['bool', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const).map((t: ValueType) => ir.cast(t, i));
  const checks = [{ index: i, extent: n, axis: 0 }];
  const far = { ...ir.cast('i32', ir.mul(ir.cast('i64', n), ir.i64(3))), checked: true };
  return b.build(
    [
      { op: 'print', parts: ['values', ...values, 'end'], pos: ir.NOWHERE },
      ir.store(ir.at(out, i, { checks }), ir.binary('ipow', far, n)),
      ...values.map((v) => ir.ifElse(ir.eq(ir.unary('uniform', v), v), [ir.store(ir.at(out, i, { checks }), n)])),
      ir.assign(k, ir.i32(0)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(ir.unary('uniform', ir.read(k)), n), [ir.breakTo(label)])],
        [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
      ),
      ir.ifElse(ir.lt(n, ir.i32(0)), [{ op: 'trap', message: 'n is negative', pos: ir.NOWHERE }]),
    ],
    { checked: true },
  );
}

/** All approximations and what flags change. */
function fast(contract: boolean): Kernel {
  const b = new ir.KernelBuilder('fast');
  const [x, y] = [b.global('f32', 'x'), b.global('f64', 'y')];
  const approximations: readonly ApproxOp[] = [
    ...([
      'exp2Approx',
      'log2Approx',
      'rcpApprox',
      'rsqrtApprox',
      'sqrtApprox',
      'sinApprox',
      'cosApprox',
      'tanhApprox',
    ] as const),
  ];
  const [v, w] = [ir.load(ir.at(x, ir.i32(0))), ir.load(ir.at(y, ir.i32(0)))];
  const results = [
    ...approximations.map((fn) => ir.unary(fn, v)),
    ...(['add', 'sub', 'mul', 'div', 'divApprox', 'min', 'max', 'fmin', 'fmax', 'rem'] as const).map((fn) =>
      ir.binary(fn, v, v),
    ),
    ir.sub(ir.mul(v, v), v),
    ir.sub(v, ir.mul(v, v)),
    ir.binary('fmin', ir.binary('fmax', ir.fma(v, v, v), ir.f32(0)), ir.f32(1)),
    ir.binary('fmin', ir.binary('fmax', ir.add(v, v), ir.f32(0)), ir.f32(1)),
    ir.call('rsqrt', v),
    ir.select(ir.lt(v, ir.f32(1)), v, ir.unary('sqrt', v)),
  ];
  const doubles = [
    ir.unary('rcpApprox', w),
    ir.unary('rsqrtApprox', w),
    ir.add(ir.mul(w, w), w),
    ir.binary('max', w, w),
  ];
  return b.build(
    [
      ...results.map((e, i) => ir.store(ir.at(x, ir.i32(i + 1)), e)),
      ...doubles.map((e, i) => ir.store(ir.at(y, ir.i32(i + 1)), e)),
    ],
    { contract, fastMath: true },
  );
}

describe.skipIf(!hasPtxas())('ptxas', () => {
  it.each(ARCHITECTURES)('assembles every operation on every type for sm_%d', { timeout: 300_000 }, async (sm) => {
    const kernels = [...OPERATORS, together(), reporting(), fast(false), fast(true)];
    for (const kernel of kernels) verify(kernel);
    await assemble(merge(kernels.map((k) => render(k, sm))), sm, ['-O0']);
  });

  it('assembles for newer hardware what was rendered for older', { timeout: 300_000 }, async () => {
    const kernels = [...OPERATORS, together(), reporting()];
    for (const sm of [50, 60, 70]) await assemble(merge(kernels.map((k) => render(k, sm))), 90, ['-O0']);
  });

  it('assembles random kernels', { timeout: 300_000 }, async () => {
    const random = Array.from({ length: 30 }, (_, seed) => randomSample(seed).kernel);
    const programs = Array.from({ length: 30 }, (_, seed) =>
      randomKernel(seed, { barriers: seed % 2 === 0, wide: true, threads: 32 }),
    );
    await assemble(
      merge([...random, ...programs].map((k, i) => render(expandToInt32(k), 90, { aliased: i % 2 === 0 }))),
      90,
      ['-O0'],
    );
  });

  it('takes bounds of threads and registers, and names of any kind', async () => {
    const kernel = { ...together(), name: '3 strange: nâmes' };
    const module = render(kernel, 90, { launchBounds: 128, maxRegisters: 40 });
    expect(module.entry).toBe('kernel_3_strange__n_mes');
    expect(await assemble(module.text, 90, ['-v'])).toMatch(/Used \d+ registers/);
    for (const more of [{}, { maxRegisters: 40 }]) {
      const crowded = render(kernel, 90, { launchBounds: 1024, minBlocks: 2, ...more });
      const [, registers] = /Used (\d+) registers/.exec(await assemble(crowded.text, 90, ['-v'])) ?? [];
      expect(Number(registers)).toBeLessThanOrEqual(32);
    }
  });

  it('reports what it does not like', async () => {
    await expect(assemble('.version 8.0\n.target sm_90\nnonsense', 90)).rejects.toThrow('nonsense');
  });
});
