/**
 * Bounds of loops that are loaded once, and counters that are asked about ahead: which are, and that kernels do the same.
 */
import { describe, expect, it } from 'vitest';
import { check } from '../../render/wasm/launch.testing.ts';
import * as ir from '../builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../ops.ts';
import { printKernel } from '../print.ts';
import { verify } from '../verify.ts';
import { askAhead, hoistBounds } from './loop-bounds.ts';

const t = ir.special('threadIdx.x');
const THREADS = 8;
const ROOM = 40;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly starts: ArraySym;
  readonly x: ArraySym;
  readonly n: Expr;
  readonly k: Var;
  readonly sum: Var;
  readonly element: (index: Expr) => Expr;
}

/** `for (k = starts[t]; exit(k); k += step) body; out[t] = sum`, where starts has 9 elements and x as many as the launch says. */
function rows({
  body,
  exit,
  step = 1,
}: {
  readonly body?: (p: Parts) => readonly Stmt[];
  readonly exit?: (p: Parts) => Expr;
  readonly step?: number;
} = {}): Kernel {
  const b = new ir.KernelBuilder('rows');
  const [starts, x, out] = [b.global('i32', 'starts'), b.global('i32', 'x'), b.global('i32', 'out')];
  const n = b.value('i32', 'n');
  const [k, sum, label] = [b.variable('i32', 'k'), b.variable('i32', 'sum'), b.label()];
  const element = (index: Expr): Expr => ir.load(ir.at(x, index, { checks: [{ index, extent: n, axis: 0 }] }));
  const parts: Parts = { b, starts, x, n, k, sum, element };
  const start = (of: Expr): Expr =>
    ir.load(ir.at(starts, of, { checks: [{ index: of, extent: ir.i32(THREADS + 1), axis: 0 }] }));
  const add = ir.assign(sum, ir.add(ir.read(sum), element(ir.read(k))));
  const test = exit?.(parts) ?? ir.ge(ir.read(k), start(ir.add(t, ir.i32(1))));
  return b.build(
    [
      ir.assign(k, start(t)),
      ir.loop(
        label,
        [ir.ifElse(test, [ir.breakTo(label)]), ...(body?.(parts) ?? [add])],
        [ir.assign(k, ir.add(ir.read(k), ir.i32(step)))],
      ),
      ir.store(ir.at(out, t), ir.read(sum)),
    ],
    { checked: true },
  );
}

const hoisted = (k: Kernel): boolean => {
  const after = hoistBounds(k);
  verify(after);
  return after !== k;
};

const doubled = (k: Kernel): boolean => {
  const after = askAhead(hoistBounds(k));
  verify(after);
  return [...printKernel(after).matchAll(/loop L/g)].length === 2;
};

describe('bounds in memory', () => {
  it('are loaded once where the loop writes nothing and changes nothing in them', () => {
    expect(hoisted(rows())).toBe(true);
    expect(hoisted(rows({ body: ({ x, k, n }) => [ir.store(ir.at(x, ir.read(k)), n)] }))).toBe(false);
    const own = ({ k, starts }: Parts): Expr => ir.ge(ir.read(k), ir.load(ir.at(starts, ir.read(k))));
    expect(hoisted(rows({ exit: own }))).toBe(false);
    const waiting = ({ starts }: Parts): Expr => ir.ge(ir.load(ir.at(starts, t)), ir.i32(1));
    expect(hoisted(rows({ exit: waiting }))).toBe(false);
    expect(hoisted(rows({ body: ({ sum }) => [ir.print([ir.read(sum)])] }))).toBe(false);
  });
});

describe('counters', () => {
  it('are asked about ahead where they go up by ones to a bound', () => {
    expect(doubled(rows())).toBe(true);
    expect(doubled(rows({ step: 2 }))).toBe(false);
    expect(doubled(rows({ exit: ({ k, n }) => ir.compare('gt', ir.read(k), n) }))).toBe(false);
    const elsewhere = ({ sum, element, k }: Parts): readonly Stmt[] => [
      ir.assign(sum, element(ir.add(ir.read(k), ir.i32(1)))),
    ];
    expect(doubled(rows({ body: elsewhere }))).toBe(false);
  });

  it('do what they did, and fail where they failed', () => {
    const image = (starts: readonly number[]): Uint8Array => {
      const words = new Int32Array(THREADS + 1 + ROOM + THREADS);
      words.set(starts);
      for (let k = 0; k < ROOM; k++) words[THREADS + 1 + k] = 3 * k + 1;
      return new Uint8Array(words.buffer);
    };
    const [x, out] = [4 * (THREADS + 1), 4 * (THREADS + 1 + ROOM)];
    let faults = 0;
    for (const starts of [
      [0, 3, 3, 10, 12, 20, 21, 30, 40],
      [0, 3, 3, 10, 12, 20, 21, 30, 41],
      [-1, 3, 3, 10, 12, 20, 21, 30, 40],
      [5, 3, 3, 2, 12, 20, 21, 30, 40],
    ]) {
      for (const [make, room] of [
        [{}, ROOM],
        [{}, ROOM - 1],
        [{ step: 2 }, ROOM],
      ] as const) {
        const kernel = askAhead(hoistBounds(rows(make)));
        verify(kernel);
        const args = [0, x, out, room];
        const before = check(rows(make), { block: [THREADS, 1, 1] }, args, image(starts), []);
        const fault = check(kernel, { block: [THREADS, 1, 1] }, args, image(starts), [
          { at: out, elem: 'i32', length: THREADS },
        ]);
        expect(fault?.thread).toBe(before?.thread);
        if (fault !== undefined) faults++;
      }
    }
    expect(faults).toBeGreaterThan(3);
    expect(faults).toBeLessThan(10);
  });

  it('are asked about where they store, too', () => {
    const storing = rows({
      body: ({ b, k, element }) => {
        const y = b.global('i32', 'y');
        const index = ir.read(k);
        const mem = ir.at(y, index, { checks: [{ index, extent: b.value('i32', 'm'), axis: 0 }] });
        return [ir.store(mem, element(index))];
      },
      exit: ({ k }) => ir.ge(ir.read(k), ir.i32(ROOM)),
    });
    const kernel = askAhead(storing);
    verify(kernel);
    const [x, y] = [4 * (THREADS + 1), 4 * (THREADS + 1 + ROOM)];
    const image = new Uint8Array(4 * (THREADS + 1 + 2 * ROOM + THREADS));
    for (const room of [ROOM, ROOM - 1]) {
      const args = [0, x, y + 4 * ROOM, ROOM, y, room];
      const fault = check(kernel, { block: [THREADS, 1, 1] }, args, image, [{ at: y, elem: 'i32', length: ROOM }]);
      expect(fault === undefined).toBe(room === ROOM);
    }
  });
});
