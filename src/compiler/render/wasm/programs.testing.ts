/**
 * Random kernels for tests: structured control flow that parts lanes in every way, several types, barriers, early returns.
 *
 * Every program is free of races and ends: threads write their own elements, read others' shared elements only after a
 * barrier, and loops count. What threads compute ends up in the array `out`, one row of `ROW` words a thread.
 */
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt, ValueType, Var } from '../../ir/ops.ts';

export const ROW = 8;
export const INPUT = 64;

/** Reproducible numbers (mulberry32). */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

export interface Scope {
  readonly depth: number;
  /** Loops and blocks that a jump may leave. */
  readonly labels: readonly { readonly label: number; readonly loop: boolean }[];
  /** Whether all threads of the block are here together, but for those that returned. */
  readonly parallel: boolean;
  /** The lanes of the own warp that are here together, but for those that returned, where threads know them. */
  readonly mask?: Expr | undefined;
}

export interface ProgramOptions {
  readonly barriers: boolean;
  readonly wide: boolean;
  readonly threads: number;
  /** Threads in a row. */
  readonly width?: number;
}

export function randomKernel(seed: number, options: ProgramOptions): Kernel {
  return new Programmer(seed, options).kernel();
}

export class Programmer {
  readonly r: Random;
  readonly options: ProgramOptions;
  readonly b: ir.KernelBuilder;
  readonly out: ArraySym;
  readonly input: ArraySym;
  readonly shared: ArraySym;
  readonly local: ArraySym;
  readonly n: Expr;
  /** Extents of `input` and `out`. */
  readonly size: Expr;
  readonly words: Expr;
  readonly tid: Expr;
  readonly gid: Expr;
  readonly vars: Record<string, Var[]> = {};
  /** Whether others' elements of `shared` may be read (true) or the own one written (false). */
  reading = false;
  budget = 60;

  constructor(seed: number, options: ProgramOptions) {
    this.r = new Random(seed);
    this.options = options;
    this.b = new ir.KernelBuilder(`random${seed}`);
    this.out = this.b.global('i32', 'out');
    this.input = this.b.global('i32', 'input');
    this.n = this.b.value('i32', 'n');
    this.size = this.b.value('i32', 'size');
    this.words = this.b.value('i32', 'words');
    this.shared = this.b.shared('i32', 'shared', options.threads);
    this.local = this.b.local('i32', 'local', 8);
    const { special, add, mul } = ir;
    this.tid = add(
      special('threadIdx.x'),
      mul(special('blockDim.x'), add(special('threadIdx.y'), mul(special('blockDim.y'), special('threadIdx.z')))),
    );
    this.gid = add(this.tid, mul(special('blockIdx.x'), ir.i32(options.threads)));
    const types: ValueType[] = options.wide
      ? ['i32', 'u32', 'f32', 'bool', 'i64', 'f64']
      : ['i32', 'u32', 'f32', 'bool'];
    for (const type of types)
      this.vars[type] = Array.from({ length: 3 }, (_, i) => this.b.variable(type, `${type}${i}`));
  }

  kernel(): Kernel {
    const body: Stmt[] = [];
    for (let j = 0; j < 8; j++) body.push(ir.store(this.at(this.local, ir.i32(j)), ir.i32(j * 3 - 5)));
    body.push(ir.store(this.at(this.shared, this.tid), ir.mul(this.gid, ir.i32(77))));
    for (const v of this.vars.i32 ?? []) if (this.r.chance(0.7)) body.push(ir.assign(v, this.expr('i32', 2)));
    const n = 3 + this.r.below(5);
    for (let i = 0; i < n; i++) body.push(...this.statement({ depth: 0, labels: [], parallel: true }));
    for (const [i, v] of Object.values(this.vars).flat().entries()) {
      if (i % 2 === 0) body.push(this.store(i % ROW, ir.read(v)));
    }
    return this.b.build(body, { checked: true });
  }

  store(column: number, value: Expr): Stmt {
    const bits = value.type === 'f32' ? ir.bitcast('i32', ir.add(value, ir.f32(0))) : ir.cast('i32', value);
    // What a NaN looks like is nobody's business.
    const plain = value.type === 'f32' ? ir.select(ir.unary('isNaN', value), ir.i32(1), bits) : bits;
    return ir.store(this.at(this.out, ir.add(ir.mul(this.gid, ir.i32(ROW)), ir.i32(column))), plain);
  }

  /** A checked access. */
  at(array: ArraySym, index: Expr): MemRef {
    const extent = array === this.input ? this.size : array === this.out ? this.words : ir.i32(array.length ?? 0);
    return ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });
  }

  /** An expression of a type; `uniform`: from what all threads have in common. */
  expr(type: ValueType, depth: number, uniform = false): Expr {
    const { r } = this;
    if (depth <= 0 || r.chance(0.25)) return this.leaf(type, uniform);
    const sub = (t: ValueType = type): Expr => this.expr(t, depth - 1, uniform);
    switch (type) {
      case 'bool':
        if (r.chance(0.2)) return ir.binary(r.pick(['and', 'or', 'xor'] as const), sub(), sub());
        return ir.compare(
          r.pick(['lt', 'le', 'gt', 'ge', 'eq', 'ne'] as const),
          ...this.pair(r.pick(['i32', 'i32', 'f32', 'u32'] as const), depth - 1, uniform),
        );
      case 'f32':
      case 'f64':
        if (r.chance(0.25)) return ir.cast(type, sub(r.pick(['i32', 'u32'] as const)));
        return ir.binary(r.pick(['add', 'sub', 'mul', 'min', 'max'] as const), sub(), sub());
      default: {
        if (r.chance(0.1)) return ir.select(sub('bool'), sub(), sub());
        if (r.chance(0.15))
          return ir.cast(type, sub(r.pick(type === 'i32' ? (['u32', 'f32', 'bool'] as const) : (['i32'] as const))));
        if (r.chance(0.15))
          return ir.binary(
            r.pick(['div', 'rem', 'floordiv'] as const),
            sub(),
            r.chance(0.5) ? ir.constant(type, 1 + r.below(9)) : sub(),
          );
        return ir.binary(r.pick(['add', 'sub', 'mul', 'and', 'xor', 'min', 'max'] as const), sub(), sub());
      }
    }
  }

  pair(type: ValueType, depth: number, uniform: boolean): [Expr, Expr] {
    return [this.expr(type, depth, uniform), this.expr(type, depth, uniform)];
  }

  leaf(type: ValueType, uniform: boolean): Expr {
    const { r } = this;
    if (type === 'i32' && uniform)
      return r.pick([this.n, ir.special('blockIdx.x'), ir.i32(r.below(20) - 5), ir.special('gridDim.x')]);
    if (uniform) return ir.constant(type, r.below(10));
    const v = r.pick(this.vars[type] ?? []);
    if (type === 'i32') {
      const masked = (): Expr => ir.and(ir.read(r.pick(this.vars.i32 ?? [])), ir.i32(7));
      return r.pick<() => Expr>([
        () => ir.read(v),
        () => ir.special('threadIdx.x'),
        () => ir.special('threadIdx.y'),
        () => ir.special('laneId'),
        () => this.gid,
        () => this.n,
        () => ir.i32(r.below(40) - 10),
        () => ir.load(this.at(this.input, ir.and(ir.read(v), ir.i32(INPUT - 1)))),
        () => ir.load(this.at(this.input, ir.and(this.gid, ir.i32(INPUT - 1)))),
        () => ir.load(this.at(this.input, ir.i32(r.below(INPUT)))),
        () => ir.load(this.at(this.local, masked())),
        () => ir.load(this.at(this.local, ir.i32(r.below(8)))),
        () => this.loadShared(),
      ])();
    }
    return r.chance(0.7) ? ir.read(v) : type === 'bool' ? ir.bool(r.chance(0.5)) : ir.constant(type, r.below(12));
  }

  loadShared(): Expr {
    if (!this.reading) return ir.load(this.at(this.shared, this.tid));
    const shift = ir.i32(this.r.below(this.options.threads));
    const index = this.r.chance(0.3) ? shift : ir.binary('rem', ir.add(this.tid, shift), ir.i32(this.options.threads));
    return ir.load(this.at(this.shared, index));
  }

  list(scope: Scope, most: number): Stmt[] {
    const n = 1 + this.r.below(most);
    return Array.from({ length: n }, () => this.statement(scope)).flat();
  }

  /** A list that may not be run, or be run again: it ends in the phase in which it began. */
  settled(scope: Scope, most: number): Stmt[] {
    const { reading } = this;
    const list = this.list(scope, most);
    return reading === this.reading ? list : [...list, ...this.barrier()];
  }

  statement(scope: Scope): Stmt[] {
    const { r } = this;
    if (this.budget-- <= 0) return [this.assign()];
    if (this.options.barriers && scope.parallel && r.chance(0.35)) return this.barrier();
    if (scope.depth >= 4) return [this.assign()];
    const deeper = { ...scope, depth: scope.depth + 1 };
    switch (r.below(13)) {
      case 0:
      case 1:
      case 2:
        return [this.assign()];
      case 3:
        return [this.store(r.below(ROW), this.expr('i32', 2))];
      case 4: {
        const index = r.chance(0.5) ? ir.i32(r.below(8)) : ir.and(ir.read(r.pick(this.vars.i32 ?? [])), ir.i32(7));
        return [ir.store(this.at(this.local, index), this.expr('i32', 2))];
      }
      case 5:
        if (this.reading) return [this.assign()];
        return [ir.store(this.at(this.shared, this.tid), this.expr('i32', 2))];
      case 6:
      case 7: {
        const uniform = r.chance(0.25);
        const within = { ...deeper, parallel: scope.parallel && uniform };
        const then = this.settled(within, 3);
        const otherwise = r.chance(0.5) ? this.settled(within, 2) : [];
        return [ir.ifElse(this.expr('bool', 2, uniform), then, otherwise)];
      }
      case 8:
      case 9:
        return this.loop(deeper);
      case 11:
        return this.guarded();
      case 10: {
        const label = this.b.label();
        const body = this.list({ ...deeper, labels: [...scope.labels, { label, loop: false }], parallel: false }, 4);
        return [ir.block(label, body)];
      }
      default:
        return this.jump(scope);
    }
  }

  /** `i = ...; if (i < size) out[...] = input[i]`, what kernels are full of. */
  guarded(): Stmt[] {
    const { r } = this;
    const i = this.b.variable('i32', 'i');
    const start = r.pick([this.gid, this.tid, ir.special('threadIdx.x')]);
    const offset = r.chance(0.5) ? ir.i32(r.below(12) - 4) : ir.mul(ir.special('blockIdx.x'), ir.i32(r.below(30)));
    const bounds = [ir.lt(ir.read(i), r.chance(0.7) ? this.size : ir.i32(r.below(INPUT)))];
    if (r.chance(0.8)) bounds.push(ir.ge(ir.read(i), ir.i32(r.below(3))));
    if (r.chance(0.3)) bounds.push(this.expr('bool', 1, r.chance(0.5)));
    const then = [this.store(r.below(ROW), ir.load(this.at(this.input, ir.read(i))))];
    if (r.chance(0.3)) then.unshift(this.assign());
    const otherwise = r.chance(0.2) ? [this.assign()] : [];
    const guard =
      r.chance(0.5) || otherwise.length > 0
        ? ir.ifElse(bounds.reduce(ir.and), then, otherwise)
        : bounds.reduceRight<Stmt[]>((inner, bound) => [ir.ifElse(bound, inner)], then)[0];
    return [ir.assign(i, ir.add(start, offset)), ...(guard ? [guard] : [])];
  }

  assign(): Stmt {
    const type = this.r.pick(Object.keys(this.vars)) as ValueType;
    return ir.assign(this.r.pick(this.vars[type] ?? []), this.expr(type, 2));
  }

  jump(scope: Scope): Stmt[] {
    const { r } = this;
    const cond = this.expr('bool', 2);
    if (scope.labels.length === 0 || r.chance(0.15))
      return r.chance(0.4) ? [ir.ifElse(cond, [ir.ret()])] : [this.assign()];
    const { label, loop } = r.pick(scope.labels);
    return [
      ir.ifElse(cond, [
        ...(r.chance(0.3) ? [this.assign()] : []),
        loop && r.chance(0.4) ? ir.continueTo(label) : ir.breakTo(label),
      ]),
    ];
  }

  /** A counting loop; its trip count may differ from thread to thread. */
  loop(scope: Scope): Stmt[] {
    const { r } = this;
    const label = this.b.label();
    const counter = this.b.variable('i32', 'k');
    const uniform = r.chance(0.5);
    const parallel = scope.parallel && uniform;
    const trips = uniform ? ir.i32(1 + r.below(4)) : ir.and(this.expr('i32', 1), ir.i32(3));
    // Jumps out of a loop that may hold a barrier would have to be uniform.
    const labels = parallel && this.options.barriers ? [] : [...scope.labels, { label, loop: true }];
    const body = this.settled({ ...scope, labels, parallel }, 3);
    const k = ir.read(counter);
    return [
      ir.assign(counter, ir.i32(0)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(k, trips), [ir.breakTo(label)]), ...body],
        [ir.assign(counter, ir.add(k, ir.i32(1)))],
      ),
    ];
  }

  barrier(): Stmt[] {
    const statement = this.r.chance(0.25) ? this.vote() : ir.barrier();
    this.reading = !this.reading;
    return [statement];
  }

  /** What a vote asks of each thread is read before all have come: it belongs to the phase that ends. */
  vote(): Stmt {
    const { r } = this;
    const result = r.pick(this.vars.i32 ?? []);
    const kind = r.pick(['count', 'and', 'or'] as const);
    return ir.vote(kind, this.expr('bool', 2), result);
  }
}
