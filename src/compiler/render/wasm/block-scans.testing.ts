/**
 * Prefix sums and the like of a block as kernels, written in several ways, now and then a little wrong.
 */
import * as ir from '../../ir/builder.ts';
import type { BinaryOp, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, mul, read, sub } = ir;
const t = ir.special('threadIdx.x');
export type Elem = 'i32' | 'u32' | 'f32';

export interface Form {
  readonly width: number;
  readonly elem: Elem;
  readonly fn: BinaryOp;
  readonly way: 'blelloch' | 'brent' | 'sklansky' | 'hillis';
  /** From the last element to the first. */
  readonly down: boolean;
  readonly first: number;
  /** After so many elements, one is left out; 0: none. */
  readonly pad: number;
  /** What else the threads take from the array. */
  readonly more: 'nothing' | 'total' | 'all' | 'own';
}

/** What changes something, so that it may be no scan any more. */
export interface Twist {
  /** Leaves out a barrier. */
  readonly without?: number;
  /** What the last element becomes at the root of the tree. */
  readonly root?: number;
  /** Rounds that are left out at the end of the first loop. */
  readonly short?: number;
  /** How far threads that take part reach beyond those that should. */
  readonly off?: number;
  /** How far what is taken in is from where it should be. */
  readonly apart?: number;
  readonly length?: number;
  /** Whether one more element becomes all of them together. */
  readonly beyond?: true;
  /** Whether a parameter says how many elements there are. */
  readonly sized?: true;
  readonly tail?: (at: (i: Expr) => Expr, put: (i: Expr, v: Expr) => Stmt) => readonly Stmt[];
  readonly value?: (e: Expr) => Expr;
}

const NOTHING: Record<Elem, Partial<Record<BinaryOp, number>>> = {
  i32: { add: 0, mul: 1, and: -1, or: 0, xor: 0, max: -(2 ** 31), min: 2 ** 31 - 1 },
  u32: { add: 0, mul: 1, and: 2 ** 32 - 1, or: 0, xor: 0, max: 0, min: 2 ** 32 - 1 },
  f32: { add: 0, mul: 1, max: Number.NEGATIVE_INFINITY, min: Number.POSITIVE_INFINITY },
};

export const elementsOf = ({ width, way }: Pick<Form, 'width' | 'way'>): number =>
  way === 'hillis' ? width : 2 * width;

export function scan(form: Form, twist: Twist = {}): Kernel {
  const { elem, fn, way, down, first, pad, more } = form;
  const n = elementsOf(form);
  const b = new ir.KernelBuilder('scan');
  const [x, out, also] = [b.global(elem, 'x'), b.global(elem, 'out'), b.global(elem, 'also')];
  const { without, root = NOTHING[elem][fn] ?? 0, short = 0, off = 0, apart = 0, value = (e: Expr) => e } = twist;
  const length = twist.length ?? n + first + (pad > 0 ? Math.ceil(n / pad) : 0);
  const s = b.shared(elem, 's', length);
  const [d, i, offset] = [b.variable('i32', 'd'), b.variable('i32', 'i'), b.variable('i32', 'offset')];
  const [own, kept] = [b.variable(elem, 'own'), b.variable(elem, 'kept')];
  const placed = (e: Expr): Expr => {
    const rank = down ? sub(i32(n - 1), e) : e;
    const dense = first > 0 ? add(rank, i32(first)) : rank;
    return pad > 0 ? add(dense, ir.binary('shr', rank, i32(Math.log2(pad)))) : dense;
  };
  const mem = (e: Expr) => ir.at(s, placed(e), { checks: [{ index: placed(e), extent: i32(length), axis: 0 }] });
  const at = (e: Expr): Expr => ir.load(mem(e));
  const put = (e: Expr, v: Expr): Stmt => ir.store(mem(e), v);
  const join = (a: Expr, c: Expr): Expr => value(ir.binary(fn, a, c));
  const loop = (from: number | Expr, ends: Expr, body: readonly Stmt[], next: Expr): readonly Stmt[] => {
    const label = b.label();
    return [
      ir.assign(d, typeof from === 'number' ? i32(from) : from),
      ir.loop(label, [ifElse(ends, [ir.breakTo(label)]), ...body], [ir.assign(d, next)]),
    ];
  };
  const [twice, half] = [mul(read(d), i32(2)), ir.binary('shr', read(d), i32(1))];
  const size = twist.sized === true ? b.value('i32', 'n') : i32(n);
  const atLeast = (most: number): Expr => ir.ge(read(d), most === n ? size : i32(most));
  const none = ir.compare('le', read(d), i32(0));
  const last = ir.eq(t, i32(0));
  const total = more === 'total' ? [ifElse(last, [ir.store(ir.at(also, i32(0)), at(sub(size, i32(1))))])] : [];
  const left = sub(mul(read(offset), add(mul(t, i32(2)), i32(1))), i32(1));
  const right = sub(mul(read(offset), add(mul(t, i32(2)), i32(2))), i32(1));
  const fewer = ir.lt(t, add(read(d), i32(off)));
  const ways: Record<Form['way'], () => readonly Stmt[]> = {
    blelloch: () => [
      ir.assign(offset, i32(1)),
      ...loop(
        ir.binary('shr', size, i32(1)),
        ir.compare('le', read(d), i32(short)),
        [
          ir.barrier(),
          ifElse(fewer, [put(right, join(at(right), at(sub(left, i32(apart)))))]),
          ir.assign(offset, mul(read(offset), i32(2))),
        ],
        half,
      ),
      ...total,
      ...(twist.beyond === true ? [ifElse(last, [put(i32(n), at(i32(n - 1)))])] : []),
      ifElse(last, [put(sub(size, i32(1)), ir.constant(elem, root))]),
      ...loop(
        1,
        atLeast(n),
        [
          ir.assign(offset, ir.binary('shr', read(offset), i32(1))),
          ir.barrier(),
          ifElse(fewer, [ir.assign(own, at(left)), put(left, at(right)), put(right, join(read(own), at(right)))]),
        ],
        twice,
      ),
    ],
    brent: () => [
      ...loop(
        1,
        atLeast(n >> short),
        [
          ir.barrier(),
          ir.assign(i, sub(mul(add(t, i32(1)), mul(read(d), i32(2))), i32(1))),
          ifElse(ir.lt(read(i), i32(n + off)), [
            put(read(i), join(at(read(i)), at(sub(sub(read(i), read(d)), i32(apart))))),
          ]),
        ],
        twice,
      ),
      ...loop(
        n / 4,
        none,
        [
          ir.barrier(),
          ir.assign(i, sub(mul(add(t, i32(1)), mul(read(d), i32(2))), i32(1))),
          ifElse(ir.lt(add(read(i), read(d)), i32(n)), [
            put(add(read(i), read(d)), join(at(read(i)), at(add(read(i), read(d))))),
          ]),
        ],
        half,
      ),
      ...(more === 'total' ? [ir.barrier(), ...total] : []),
    ],
    sklansky: () => [
      ...loop(
        1,
        atLeast(n >> short),
        [
          ir.barrier(),
          ir.assign(i, add(mul(ir.binary('div', t, read(d)), mul(read(d), i32(2))), read(d))),
          ir.assign(offset, add(read(i), ir.binary('rem', t, read(d)))),
          put(read(offset), join(at(read(offset)), at(sub(read(i), i32(1 + apart))))),
        ],
        twice,
      ),
      ...(more === 'total' ? [ir.barrier(), ...total] : []),
    ],
    hillis: () => [
      ...loop(
        1,
        atLeast(n >> short),
        [
          ir.barrier(),
          ir.assign(own, at(t)),
          ifElse(ir.ge(t, add(read(d), i32(off))), [
            ir.assign(own, join(read(own), at(sub(sub(t, read(d)), i32(apart))))),
          ]),
          ir.barrier(),
          put(t, read(own)),
        ],
        twice,
      ),
      ...(more === 'total' ? [ir.barrier(), ...total] : []),
    ],
  };
  const behind: readonly Stmt[] =
    more === 'all'
      ? [ir.barrier(), ir.assign(kept, at(i32(n - 1))), ir.barrier(), ifElse(last, [put(i32(n - 1), read(kept))])]
      : more === 'own'
        ? [ir.barrier(), ir.assign(kept, at(t)), put(t, read(kept))]
        : [];
  let barriers = 0;
  const leaveOut = (list: readonly Stmt[]): readonly Stmt[] =>
    list.flatMap((x): Stmt[] => {
      if (x.op === 'barrier') return barriers++ === without ? [] : [x];
      return [x.op === 'loop' ? { ...x, body: leaveOut(x.body) } : x];
    });
  const each = (visit: (e: Expr) => Stmt): readonly Stmt[] =>
    n === form.width ? [visit(t)] : [visit(mul(t, i32(2))), visit(add(mul(t, i32(2)), i32(1)))];
  return b.build(
    [
      ...each((e) => put(e, ir.load(ir.at(x, e)))),
      ...leaveOut(ways[way]()),
      ...behind,
      ...(twist.tail?.(at, put) ?? []),
      ir.barrier(),
      ...each((e) => ir.store(ir.at(out, e), at(e))),
      ...(more === 'all' || more === 'own' ? [ir.store(ir.at(also, t), read(kept))] : []),
    ],
    { checked: true },
  );
}

export const PLAIN: Form = {
  width: 16,
  elem: 'i32',
  fn: 'add',
  way: 'blelloch',
  down: false,
  first: 0,
  pad: 0,
  more: 'nothing',
};

/** Whether it does as in the interpreter. */
export function run(k: Kernel, width: number, elem: Elem, seed = 1, more: readonly number[] = []): void {
  const r = new Random(seed);
  const n = 2 * width;
  const numbers = Array.from({ length: n }, () =>
    elem === 'f32' ? r.pick([r.next() * 100, -r.next(), -0, 0, Number.NaN, 3]) : r.next() * 2 ** 32 - 2 ** 31,
  );
  const bytes = new Uint8Array(12 * n);
  bytes.set(new Uint8Array((elem === 'f32' ? Float32Array.from(numbers) : Int32Array.from(numbers)).buffer));
  check(k, { block: [width, 1, 1] }, [0, 4 * n, 8 * n, ...more], bytes, [{ at: 4 * n, elem, length: 2 * n }]);
}
