/**
 * The parts of expressions and statements: the one place that knows where each kind keeps its operands and its inner lists.
 *
 * All walks start here, those that rebuild a tree too; searches and the like are in `passes/walk.ts`. What a case returns is
 * checked to be all that its node holds (`fields.ts`), so that an operand that is forgotten here does not compile.
 */
import type { InnerLists, ListFields, OperandFields, Operands } from './fields.ts';
import type { Expr, MemRef, Stmt } from './ops.ts';

interface IrTypes {
  readonly expr: Expr;
  readonly memory: MemRef;
  readonly stmt: Stmt;
}

type Change = (e: Expr) => Expr;
type ChangeList = (list: readonly Stmt[]) => readonly Stmt[];
type Parts<N> = Operands<N, IrTypes>;
type Fields<N> = OperandFields<N, IrTypes>;
type Lists<N> = InnerLists<N, IrTypes>;
/** A node without operands. */
type Leaf<N> = Parts<N> extends readonly [] ? N : never;
/** A statement without statements inside. */
type Plain<S> = Lists<S> extends readonly [] ? S : never;

// ---------------------------------------------------------------- memory and lists

/** The expressions a memory access evaluates: the index, then the indices and extents of its checks. */
export function memParts(mem: MemRef): readonly Expr[] {
  return pushMemory([], mem);
}

function pushMemory(parts: Expr[], { index, checks }: MemRef): readonly Expr[] {
  parts.push(index);
  for (const check of checks) parts.push(check.index, check.extent);
  return parts;
}

/** Changes each expression that a memory access evaluates as a whole. */
function mapMem(mem: MemRef, change: Change): MemRef {
  const index = change(mem.index);
  const checks = mapSame(mem.checks, (c) => {
    const [i, extent] = [change(c.index), change(c.extent)];
    return i === c.index && extent === c.extent ? c : { ...c, index: i, extent };
  });
  return index === mem.index && checks === mem.checks ? mem : { ...mem, index, checks };
}

/** `list.map(change)`, but the list itself when nothing changed. */
export function mapSame<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  for (let i = 0; i < list.length; i++) if (changed[i] !== list[i]) return changed;
  return list;
}

/** Of leaves, which are most nodes: walks ask many times. */
const NONE: [] = [];

type Held = Expr | MemRef | readonly (Expr | string)[] | undefined;

/** The operands in fields of any kind. */
function partsIn(fields: Readonly<Record<string, Held>>): readonly Expr[] {
  return Object.values(fields).flatMap((held): readonly Expr[] => {
    if (held === undefined) return [];
    if (isList(held)) return held.filter((part) => typeof part !== 'string');
    return 'op' in held ? [held] : memParts(held);
  });
}

function isList(held: Exclude<Held, undefined>): held is readonly (Expr | string)[] {
  return Array.isArray(held);
}

function withMemory({ value, mem }: { readonly value: Expr; readonly mem: MemRef }): readonly Expr[] {
  return pushMemory([value], mem);
}

/** A node without its operands, or its lists, as far as types can tell: whoever makes one of it must give them all. */
function bare<N extends Expr | Stmt>(node: N): N extends unknown ? Omit<N, keyof Fields<N>> : never {
  return node as never;
}
function hollow<S extends Stmt>(s: S): S extends unknown ? Omit<S, keyof ListFields<S, IrTypes>> : never {
  return s as never;
}

// ---------------------------------------------------------------- expressions

/** The operands of an expression. */
export function exprParts(e: Expr): readonly Expr[] {
  switch (e.op) {
    case 'const':
    case 'var':
    case 'param':
    case 'special':
    case 'available':
      return NONE satisfies Parts<typeof e>;
    case 'unary':
    case 'cast':
    case 'bitcast':
      return [e.a] satisfies Parts<typeof e>;
    case 'binary':
    case 'compare':
      return [e.a, e.b] satisfies Parts<typeof e>;
    case 'select':
      return [e.cond, e.a, e.b] satisfies Parts<typeof e>;
    case 'fma':
      return [e.a, e.b, e.c] satisfies Parts<typeof e>;
    case 'call':
    case 'intrinsic': {
      const { args } = { args: e.args } satisfies Fields<typeof e>;
      return args;
    }
    case 'native': {
      const { args, otherwise } = { args: e.args, otherwise: e.otherwise } satisfies Fields<typeof e>;
      return otherwise === undefined ? args : [...args, otherwise];
    }
    case 'load':
    case 'address': {
      const { mem } = { mem: e.mem } satisfies Fields<typeof e>;
      return memParts(mem);
    }
  }
}

/** An expression with its operands changed; the expression itself when none is. */
export function mapParts(e: Expr, change: Change): Expr {
  switch (e.op) {
    case 'const':
    case 'var':
    case 'param':
    case 'special':
    case 'available':
      return e satisfies Leaf<typeof e>;
    case 'unary':
    case 'cast':
    case 'bitcast': {
      const a = change(e.a);
      return a === e.a ? e : { ...bare(e), a };
    }
    case 'binary':
    case 'compare': {
      const [a, b] = [change(e.a), change(e.b)];
      return a === e.a && b === e.b ? e : { ...bare(e), a, b };
    }
    case 'select': {
      const [cond, a, b] = [change(e.cond), change(e.a), change(e.b)];
      const same = cond === e.cond && a === e.a && b === e.b;
      return same ? e : { ...bare(e), cond, a, b };
    }
    case 'fma': {
      const [a, b, c] = [change(e.a), change(e.b), change(e.c)];
      return a === e.a && b === e.b && c === e.c ? e : { ...bare(e), a, b, c };
    }
    case 'call':
    case 'intrinsic': {
      const args = mapSame(e.args, change);
      return args === e.args ? e : { ...bare(e), args };
    }
    case 'native': {
      const [args, otherwise] = [mapSame(e.args, change), e.otherwise && change(e.otherwise)];
      const same = args === e.args && otherwise === e.otherwise;
      return same ? e : { ...e, ...({ args, otherwise } satisfies Fields<typeof e>) };
    }
    case 'load':
    case 'address': {
      const mem = mapMem(e.mem, change);
      return mem === e.mem ? e : { ...bare(e), mem };
    }
  }
}

// ---------------------------------------------------------------- statements

/** The expressions that a statement itself evaluates, not those of statements inside it. */
export function stmtExprs(s: Stmt): readonly Expr[] {
  switch (s.op) {
    case 'assign':
      return [s.value] satisfies Parts<typeof s>;
    case 'if':
      return [s.cond] satisfies Parts<typeof s>;
    case 'rest':
      return [s.nanoseconds] satisfies Parts<typeof s>;
    case 'store':
      return withMemory({ value: s.value, mem: s.mem } satisfies Fields<typeof s>);
    case 'atomic':
      return partsIn({ args: s.args, mem: s.mem } satisfies Fields<typeof s>);
    case 'barrier':
      return partsIn({ pred: s.pred } satisfies Fields<typeof s>);
    case 'warp':
      return partsIn({ mask: s.mask, args: s.args } satisfies Fields<typeof s>);
    case 'extern': {
      const { args } = { args: s.args } satisfies Fields<typeof s>;
      return args;
    }
    case 'print':
      return partsIn({ parts: s.parts } satisfies Fields<typeof s>);
    case 'loop':
    case 'block':
    case 'break':
    case 'continue':
    case 'return':
    case 'fence':
    case 'trap':
      return [] satisfies Parts<typeof s>;
  }
}

/** Changes the expressions that a statement itself evaluates, each as a whole. */
export function mapTopExprs(s: Stmt, change: Change): Stmt {
  switch (s.op) {
    case 'assign': {
      const value = change(s.value);
      return value === s.value ? s : { ...bare(s), value };
    }
    case 'store': {
      const [value, mem] = [change(s.value), mapMem(s.mem, change)];
      return value === s.value && mem === s.mem ? s : { ...bare(s), value, mem };
    }
    case 'atomic': {
      const [args, mem] = [mapSame(s.args, change), mapMem(s.mem, change)];
      return args === s.args && mem === s.mem ? s : { ...bare(s), args, mem };
    }
    case 'if': {
      const cond = change(s.cond);
      return cond === s.cond ? s : { ...bare(s), cond };
    }
    case 'barrier': {
      const pred = s.pred && change(s.pred);
      return pred === s.pred ? s : { ...s, ...({ pred } satisfies Fields<typeof s>) };
    }
    case 'warp': {
      const [mask, args] = [s.mask && change(s.mask), mapSame(s.args, change)];
      return mask === s.mask && args === s.args ? s : { ...s, ...({ mask, args } satisfies Fields<typeof s>) };
    }
    case 'extern': {
      const args = mapSame(s.args, change);
      return args === s.args ? s : { ...bare(s), args };
    }
    case 'rest': {
      const nanoseconds = change(s.nanoseconds);
      return nanoseconds === s.nanoseconds ? s : { ...bare(s), nanoseconds };
    }
    case 'print': {
      const parts = mapSame(s.parts, (p) => (typeof p === 'string' ? p : change(p)));
      return parts === s.parts ? s : { ...bare(s), parts };
    }
    case 'loop':
    case 'block':
    case 'break':
    case 'continue':
    case 'return':
    case 'fence':
    case 'trap':
      return s satisfies Leaf<typeof s>;
  }
}

/** The lists of statements inside a statement. */
export function stmtLists(s: Stmt): readonly (readonly Stmt[])[] {
  switch (s.op) {
    case 'if':
      return [s.then, s.else] satisfies Lists<typeof s>;
    case 'loop':
      return [s.body, s.update] satisfies Lists<typeof s>;
    case 'block':
      return [s.body] satisfies Lists<typeof s>;
    default:
      return [] satisfies Lists<typeof s>;
  }
}

/** A statement with its inner lists changed; the statement itself when none is. */
export function mapLists<S extends Stmt>(s: S, change: ChangeList): S;
export function mapLists(s: Stmt, change: ChangeList): Stmt {
  switch (s.op) {
    case 'if': {
      const [then, otherwise] = [change(s.then), change(s.else)];
      const same = then === s.then && otherwise === s.else;
      return same ? s : { ...hollow(s), then, else: otherwise };
    }
    case 'loop': {
      const [body, update] = [change(s.body), change(s.update)];
      return body === s.body && update === s.update ? s : { ...hollow(s), body, update };
    }
    case 'block': {
      const body = change(s.body);
      return body === s.body ? s : { ...hollow(s), body };
    }
    default:
      return s satisfies Plain<typeof s>;
  }
}
