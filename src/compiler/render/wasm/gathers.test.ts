/**
 * Look-ups by indices that lie in narrow lanes: what they give, how they are checked, and how their addresses are taken out.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import { writeElement } from '../../ir/evaluate.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Kernel } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const BLOCK = 64;
const GRID = 3;
const THREADS = BLOCK * GRID;
/** Elements of tables: all that 16 bits can name, and some more. */
const TABLE = 65_600;

/** `y[i] = table[x[i]]`, of threads below `n` only where a guard is asked for. */
function lookUp(index: ElemType, elem: ElemType, guarded = false): Kernel {
  const b = new ir.KernelBuilder('lookUp');
  const [x, table, y] = [b.global(index, 'x'), b.global(elem, 'table'), b.global(elem, 'y')];
  const [extent, n] = [b.value('i32', 'extent'), b.value('i32', 'n')];
  const v = b.variable('i32', 'v');
  const i: Expr = ir.add(ir.mul(ir.special('blockIdx.x'), ir.i32(BLOCK)), ir.special('threadIdx.x'));
  const element = ir.load(ir.at(table, ir.read(v), { checks: [{ index: ir.read(v), extent, axis: 0 }] }));
  const body = [ir.assign(v, ir.load(ir.at(x, i))), ir.store(ir.at(y, i), element)];
  const odd = ir.compare('ne', ir.and(ir.special('threadIdx.x'), ir.i32(3)), ir.i32(1));
  return b.build(guarded ? [ir.ifElse(ir.and(ir.lt(i, n), odd), body)] : body, { checked: true });
}

interface Run {
  readonly extent: number;
  readonly indices: readonly number[];
  readonly guarded?: boolean;
}

/** Runs a look-up beside the interpreter. */
function run(index: ElemType, elem: ElemType, { extent, indices, guarded }: Run): ReturnType<typeof check> {
  const bytes = ELEM_SIZE[elem];
  const tableAt = THREADS * ELEM_SIZE[index];
  const yAt = tableAt + TABLE * bytes;
  const image = new Uint8Array(yAt + THREADS * bytes);
  const view = new DataView(image.buffer);
  for (let k = 0; k < THREADS; k++) {
    writeElement(view, k * ELEM_SIZE[index], index, indices[(k * 7) % indices.length] ?? 0);
  }
  for (let k = 0; k < TABLE; k++) writeElement(view, tableAt + k * bytes, elem, (k * 2654435761) >> 9);
  const launch = { grid: [GRID, 1, 1], block: [BLOCK, 1, 1] } as const;
  const args = [0, tableAt, yAt, extent, THREADS - 5];
  return check(lookUp(index, elem, guarded), launch, args, image, [{ at: yAt, elem, length: THREADS }]);
}

const INDICES = ['u8', 'u16', 'i8', 'i16'] as const;
const ELEMENTS = ['u8', 'i8', 'u16', 'i16', 'i32', 'f32'] as const;

describe.each(INDICES)('by %s', (index) => {
  const most = { u8: 255, u16: 65_535, i8: 127, i16: 32_767 }[index];

  it.each(ELEMENTS)('%s', (elem) => {
    const indices = Array.from({ length: 61 }, (_, k) => (k * 1009 * k) % (most + 1));
    for (const guarded of [false, true]) {
      expect(run(index, elem, { extent: TABLE, indices: [...indices, 0, most], guarded })).toBeUndefined();
      expect(run(index, elem, { extent: most + 1, indices: [...indices, most], guarded })).toBeUndefined();
    }
  });

  it.each([0, 1, 2, 100, 127, 128, 254, 255, 256, 257, 32_767, 32_768, 65_535, 65_536, 65_537])(
    'below %d, and not a step beyond',
    (extent) => {
      const last = Math.min(most, extent - 1);
      for (const elem of ['u8', 'u16'] as const) {
        for (const guarded of [false, true]) {
          if (last >= 0) expect(run(index, elem, { extent, indices: [0, last, last >> 1], guarded })).toBeUndefined();
          if (extent > most) continue;
          const indices = [...Array.from({ length: 40 }, () => Math.max(last, 0)), extent];
          expect(run(index, elem, { extent, indices, guarded })).toMatchObject({
            message: `index ${extent} out of range for axis 0 of 'table' (extent ${extent})`,
          });
        }
      }
    },
  );

  it('not below zero', () => {
    if (index === 'u8' || index === 'u16') return;
    expect(run(index, 'u8', { extent: 100, indices: [1, 2, 3, 99, -1] })).toMatchObject({
      message: expect.stringMatching('index -1 '),
    });
  });
});

describe('code', () => {
  const code = (index: ElemType, elem: ElemType): string =>
    disassemble(
      renderWasm(lookUp(index, elem), { block: [BLOCK, 1, 1], lanes: 4, concurrent: false, memory64: false }).bytes,
    );

  it('takes addresses out in pairs', () => {
    expect(code('u16', 'u16')).toMatch(/i64x2\.extract_lane 1/);
    expect(code('u16', 'u16')).not.toMatch(/i32x4\.extract_lane [1-3]/);
  });

  it('loads the halves of a vector side by side', () => {
    expect(code('u16', 'u16')).not.toMatch(/load16_lane align=2 4/);
    expect(code('u8', 'u8')).not.toMatch(/load8_lane align=1 8/);
  });

  it('checks an index in its own lanes', () => {
    expect(code('u16', 'u16')).toMatch(/i16x8\.ge_u/);
    expect(code('u8', 'u8')).toMatch(/i8x16\.ge_u/);
    // A sign makes the largest of numbers without one.
    expect(code('i16', 'u16')).not.toMatch(/i16x8\.ge_u/);
  });
});
