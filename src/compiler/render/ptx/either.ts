/**
 * The same access to one of several arrays (`if (c) t = a[i]; else t = b[i];`): where all are in memory of one kind, the address is chosen
 * and one access made.
 */
import type { Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { sameExpr } from '../../ir/same.ts';
import type { Operand } from './code.ts';
import { type Gen, isUnwritten, writeVar } from './gen.ts';
import { type Base, baseOf, type Chosen, loadElement, storeElement } from './memory.ts';

type If = Stmt & { op: 'if' };
type Assign = Stmt & { op: 'assign' };
type Store = Stmt & { op: 'store' };

interface Arm {
  /** Undefined in the last. */
  readonly cond: Expr | undefined;
  readonly access: Stmt;
  readonly mem: MemRef;
}

/** The arms of a chain of tests that each make one access; undefined for any other statement. */
function armsOf(s: If): readonly Arm[] | undefined {
  const [one] = s.then;
  const [other] = s.else;
  const arm = (cond: Expr | undefined, access: Stmt | undefined): Arm | undefined => {
    const mem = accessed(access);
    return access && mem && { cond, access, mem };
  };
  if (s.then.length !== 1 || s.else.length !== 1 || other === undefined) return undefined;
  const first = arm(s.cond, one);
  const rest = other.op === 'if' ? armsOf(other) : [arm(undefined, other)];
  if (first === undefined || rest === undefined) return undefined;
  const arms = [first, ...rest];
  return arms.every((a) => a !== undefined) ? arms : undefined;
}

function accessed(s: Stmt | undefined): MemRef | undefined {
  if (s?.op === 'store') return s.mem;
  return s?.op === 'assign' && s.value.op === 'load' ? s.value.mem : undefined;
}

function isSameBut(a: Arm, b: Arm): boolean {
  const [m, n] = [a.mem, b.mem];
  const place = m.elem === n.elem && m.scale === n.scale && m.disp === n.disp && m.cache === n.cache;
  if (!place || m.wide !== undefined || n.wide !== undefined || !sameExpr(m.index, n.index)) return false;
  const [x, y] = [a.access, b.access];
  if (x.op === 'assign') return y.op === 'assign' && x.var.id === y.var.id;
  return x.op === 'store' && y.op === 'store' && sameExpr(x.value, y.value);
}

/** The address that one of several bases is, in a register. */
function start(g: Gen, { start: symbol, offset, wide }: Base): Operand {
  const [reg, bits] = wide ? (['rd', 64] as const) : (['r', 32] as const);
  const at = symbol.startsWith('%') ? symbol : g.code.once(reg, `mov.u${bits}`, symbol);
  return offset === 0 ? at : g.code.value(reg, `add.s${bits}`, [at, String(offset)]);
}

/** Writes the statement as one access; false where it is something else. In checked mode each array has a fault of its own. */
export function emitEither(g: Gen, s: If): boolean {
  if (g.kernel.checked) return false;
  const arms = armsOf(s);
  const [first, ...others] = arms ?? [];
  if (arms === undefined || first === undefined || others.some((arm) => !isSameBut(first, arm))) return false;
  const bases = arms.map(({ mem }) => baseOf(g, mem));
  const [{ space, wide } = { space: 'const', wide: true }] = bases;
  if (space === 'const' || bases.some((b) => b.space !== space)) return false;
  const [reg, bits] = wide ? (['rd', 'b64'] as const) : (['r', 'b32'] as const);
  const at = arms.reduceRight<Operand>(
    (otherwise, { cond }, k) => {
      const base = bases[k];
      if (base === undefined || cond === undefined) return otherwise;
      return g.code.value(reg, `selp.${bits}`, [start(g, base), otherwise, g.value(cond)]);
    },
    start(g, bases.at(-1) as Base),
  );
  const arrays = arms.map(({ mem }) => mem.array);
  const chosen: Chosen = {
    arrays,
    base: { space, start: at, offset: 0, wide },
    unwritten: arrays.every((array) => isUnwritten(g, array)),
  };
  const { access, mem } = first;
  if (access.op === 'assign') writeVar(g, (access as Assign).var, loadElement(g, mem, chosen));
  else storeElement(g, mem, (access as Store).value, chosen);
  return true;
}
