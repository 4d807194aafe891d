/**
 * Arithmetic on elements of 8 and 16 bits: the same as in 32 bits, at the ends of all ranges, and in lanes as narrow as those allow.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import { writeElement } from '../../ir/evaluate.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Kernel, type Stmt, type Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, read, sub } = ir;
const NARROW = ['i8', 'u8', 'i16', 'u16'] as const;
const BLOCK = 64;
const EDGES = [
  0, 1, 2, 3, 100, 127, 128, 129, 200, 254, 255, 256, 1000, 32639, 32767, 32768, 65024, 65280, 65535, -1, -2, -128,
];

const max = (a: Expr, b: Expr): Expr => ir.binary('max', a, b);
const min = (a: Expr, b: Expr): Expr => ir.binary('min', a, b);
const div = (a: Expr, c: number): Expr => ir.binary('div', a, i32(c));
const shr = (a: Expr, c: number): Expr => ir.binary('shr', a, i32(c));
const lt = (a: Expr, b: Expr): Expr => ir.compare('lt', a, b);

interface Made {
  readonly kernel: Kernel;
  /** All pairs of edges, one a thread. */
  run(scalars?: readonly number[]): void;
}

/** `out[i] = value(a[i], b[i])`; `t` is a variable that holds a[i], `n` a parameter. */
function made(
  from: ElemType,
  to: ElemType,
  value: (x: { readonly a: Expr; readonly b: Expr; readonly t: Expr; readonly n: Expr; readonly acc: Var }) => Expr,
  before: (b: ir.KernelBuilder, acc: Var, a: Expr) => readonly Stmt[] = () => [],
): Made {
  const b = new ir.KernelBuilder('narrow');
  const [x, y, out] = [b.global(from, 'x'), b.global(from, 'y'), b.global(to, 'out')];
  const n = b.value('i32', 'n');
  const [t, acc] = [b.variable('i32', 't'), b.variable('i32', 'acc')];
  const i = add(mul(ir.special('blockIdx.x'), i32(BLOCK)), ir.special('threadIdx.x'));
  const [a, c] = [ir.load(ir.at(x, i)), ir.load(ir.at(y, i))];
  const kernel = b.build([
    ir.assign(t, a),
    ...before(b, acc, a),
    ir.store(ir.at(out, i), value({ a, b: c, t: read(t), n, acc })),
  ]);
  const pairs = EDGES.flatMap((p) => EDGES.map((q) => [p, q] as const));
  const count = Math.ceil(pairs.length / BLOCK) * BLOCK;
  const offsets = [0, 4 * count, 8 * count];
  const image = new Uint8Array(12 * count);
  const view = new DataView(image.buffer);
  for (const [r, pair] of pairs.entries())
    for (const k of [0, 1] as const) writeElement(view, (offsets[k] ?? 0) + r * ELEM_SIZE[from], from, pair[k]);
  const region = { at: 8 * count, elem: to, length: count };
  return {
    kernel,
    run: (scalars = [0]) => {
      for (const scalar of scalars)
        check(kernel, { grid: [count / BLOCK, 1, 1], block: [BLOCK, 1, 1] }, [...offsets, scalar], image, [region]);
    },
  };
}

type Value = Parameters<typeof made>[2];
const VALUES: Readonly<Record<string, Value>> = {
  sum: ({ a, b }) => add(a, b),
  'difference, halved': ({ a, b }) => shr(sub(a, b), 1),
  product: ({ a, b }) => mul(a, b),
  'product by 255': ({ a, b }) => div(mul(a, b), 255),
  'quotient by 255': ({ a }) => div(a, 255),
  'quotient by 9 of a sum': ({ a, b }) => div(add(a, b), 9),
  'remainder by 7': ({ a, b }) => ir.binary('rem', max(a, b), i32(7)),
  'shifted bytes': ({ a }) => ir.binary('shl', shr(a, 3), i32(2)),
  distance: ({ a, b }) => ir.unary('abs', sub(a, b)),
  'saturated sum': ({ a, b }) => min(add(a, b), i32(255)),
  'saturated by a limit that comes first': ({ a, b }) => min(i32(255), max(i32(0), sub(a, b))),
  'saturated words': ({ a, b }) => min(max(mul(a, b), i32(-32768)), i32(32767)),
  'saturated bytes': ({ a, b }) => max(min(sub(a, b), i32(127)), i32(-128)),
  'large words, saturated': ({ a }) => min(max(a, i32(0)), i32(255)),
  'below a scalar': ({ a, b, n }) => ir.select(lt(a, n), a, b),
  'above a scalar': ({ a, b, n }) => ir.select(lt(n, a), a, b),
  'one more, compared': ({ a, b }) => ir.select(lt(add(a, i32(1)), b), a, b),
  compared: ({ a, b }) => ir.select(lt(a, b), i32(255), i32(0)),
  'masks of two widths': ({ a, b }) => ir.select(ir.and(lt(a, b), lt(mul(a, a), mul(b, b))), a, b),
  'blend by a weight': ({ a, b, t }) => shr(add(mul(a, t), mul(b, sub(i32(255), t))), 8),
  'blend by a weight beyond one': ({ a, b, t }) => shr(add(mul(b, t), mul(a, sub(i32(127), t))), 8),
  'narrowed and widened': ({ a, b }) => add(ir.cast('i8', add(a, b)), ir.cast('u8', sub(a, b))),
  floats: ({ a, b }) => ir.cast('u8', mul(ir.cast('f32', sub(a, b)), ir.f32(1.5))),
};

describe.each(NARROW)('%s', (elem) => {
  it.each(Object.keys(VALUES))('%s', (name) => {
    const scalars = name.includes('scalar') ? [-1, 0, 100, 255, 70000] : [0];
    for (const to of ['u8', 'i16', 'i32'] as const) made(elem, to, VALUES[name] as Value).run(scalars);
  });

  it('what lanes keep that take another way', () => {
    const before = (_: ir.KernelBuilder, acc: Var, a: Expr): readonly Stmt[] => [
      ir.assign(acc, a),
      ir.ifElse(lt(i32(99), a), [ir.assign(acc, sub(i32(7), read(acc)))]),
    ];
    made(elem, 'i32', ({ acc }) => read(acc), before).run();
  });

  it('sums of few rounds and of many, and under masks', () => {
    for (const rounds of [3, 300]) {
      const summed = (b: ir.KernelBuilder, acc: Var, a: Expr): readonly Stmt[] => {
        const [k, label] = [b.variable('i32', 'k'), b.label()];
        return [
          ir.assign(acc, i32(1)),
          ir.assign(k, i32(0)),
          ir.loop(
            label,
            [
              ir.ifElse(ir.ge(read(k), i32(rounds)), [ir.breakTo(label)]),
              ir.ifElse(lt(i32(5), a), [ir.assign(acc, add(read(acc), a))]),
            ],
            [ir.assign(k, add(read(k), i32(1)))],
          ),
        ];
      };
      made(elem, 'i32', ({ acc }) => read(acc), summed).run();
    }
  });
});

describe('lanes', () => {
  const code = (value: Value, from: ElemType = 'u8', to: ElemType = 'u8'): string => {
    const { kernel } = made(from, to, value);
    return disassemble(
      renderWasm(kernel, { block: [BLOCK, 1, 1], lanes: 4, concurrent: false, memory64: false }).bytes,
    );
  };

  it('are bytes for what wraps to bytes', () => {
    expect(code(({ a, b }) => add(a, b))).toMatch(/i8x16\.add/);
    expect(code(({ a, b }) => ir.select(lt(a, b), a, b))).toMatch(/i8x16\.lt_u/);
  });

  it('are words where bytes are too few', () => {
    const words = code(({ a, b, t }) => shr(add(mul(a, t), mul(b, sub(i32(255), t))), 8));
    expect(words).toMatch(/i16x8\.mul/);
    expect(words).not.toMatch(/i32x4\.mul/);
  });

  it('saturate by becoming narrower', () => {
    for (const sum of [code(({ a, b }) => min(add(a, b), i32(255))), code(({ a, b }) => min(i32(255), add(a, b)))]) {
      expect(sum).toMatch(/i8x16\.narrow_i16x8_u/);
      expect(sum).not.toMatch(/\.min_/);
    }
  });

  it('are 32 bits where words are too few', () => {
    expect(code(({ a, b }) => mul(mul(a, b), b), 'u16', 'i32')).toMatch(/i32x4\.mul/);
  });
});

describe('look-ups', () => {
  it.each(['u8', 'u16'] as const)('by %s fail in whichever lane there is no element', (elem) => {
    const b = new ir.KernelBuilder('look up');
    const [ids, table, out] = [b.global(elem, 'ids'), b.global('u8', 'table'), b.global('u8', 'out')];
    const length = b.value('i32', 'length');
    const t = ir.special('threadIdx.x');
    const id = ir.load(ir.at(ids, t));
    const found = ir.load(ir.at(table, id, { checks: [{ index: id, extent: length, axis: 0 }] }));
    const kernel = b.build([ir.store(ir.at(out, t), found)], { checked: true });
    const size = ELEM_SIZE[elem];
    for (let bad = 0; bad <= BLOCK; bad++) {
      const image = new Uint8Array(256 + 256 + BLOCK);
      for (let k = 0; k < BLOCK; k++) image[k * size] = k === bad ? 90 : k;
      const fault = check(kernel, { block: [BLOCK, 1, 1] }, [0, 256, 512, 90], image, [
        { at: 512, elem: 'u8', length: BLOCK },
      ]);
      expect(fault?.thread).toBe(bad < BLOCK ? bad : undefined);
    }
  });
});
