/**
 * The last rounds of loops over barriers whose stride halves, `for (j = k >> 1; j > 0; j >>= 1) … t ^ j …`, written out for j = 4, 2 and 1.
 *
 * While j is that small, threads exchange values with others of the same vector. With j known these are shuffles, and which threads do
 * something is known as well. Sorting networks take half of their rounds so. Loops whose rounds can be counted are written out as a whole
 * before (`unroll.ts`); what remains are those that begin somewhere else each time.
 */
import { assign, binary, compare, constant, i32, ifElse, KernelBuilder, or, read } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { analyseLiveness, type Liveness } from './liveness.ts';
import { renamed } from './rename.ts';
import { anew, copyAt, isRead, nodesIn } from './round-copies.ts';
import { assignedIn, eachExpr, jumpsTo, mapExpr, mapLists, someStmt } from './walk.ts';

/** The strides of the rounds that are written out, each half of the one before. */
const STRIDES = [4, 2, 1];

/** Expression nodes of a round that is worth having four times. */
const LARGEST = 120;

/** After simplification; the same kernel when it has no such loop. */
export function writeLastRounds(kernel: Kernel): Kernel {
  if (!someStmt(kernel.body, (s) => s.op === 'loop' && halving(s) !== undefined)) return kernel;
  const b = KernelBuilder.from(kernel);
  const liveness = analyseLiveness(kernel.body);
  const inList = (list: readonly Stmt[]): readonly Stmt[] =>
    list.flatMap((s) => {
      const found = s.op === 'loop' ? halving(s) : undefined;
      return found === undefined ? [mapLists(s, inList)] : written(found, b, kernel, liveness);
    });
  const body = inList(kernel.body);
  return { ...kernel, vars: [...b.vars], body };
}

interface Halving {
  readonly loop: Loop;
  readonly exit: Expr;
  readonly body: readonly Stmt[];
  readonly stride: Var;
}

/** A loop as one whose stride halves; undefined for any other, and for those that would gain nothing. */
function halving(loop: Loop): Halving | undefined {
  const tested = testedLoop(loop);
  const [step, ...others] = loop.update;
  if (tested === undefined || step?.op !== 'assign' || others.length > 0) return undefined;
  const { exit, body } = tested;
  const stride = step.var;
  if (stride.type !== 'i32' || !body.some((s) => s.op === 'barrier')) return undefined;
  const isStraight = !someStmt(body, (s) => s.op === 'loop' || s.op === 'block' || s.op === 'return');
  if (!isStraight || jumpsTo(body, loop.label) || assignedIn(body).has(stride.id)) return undefined;
  const at = (e: Expr, value: number): unknown => {
    const folded = foldExpr(mapExpr(e, (x) => (isRead(x, stride) ? i32(value) : x)));
    return folded.op === 'const' ? folded.value : undefined;
  };
  const halves = STRIDES.every((value) => at(step.value, value) === value >> 1 && at(exit, value) === false);
  if (!halves || at(exit, 0) !== true || nodesIn(body) > LARGEST) return undefined;
  let exchanges = false;
  eachExpr(body, (e) => {
    exchanges ||= e.op === 'binary' && e.fn === 'xor' && (isRead(e.a, stride) || isRead(e.b, stride));
  });
  return exchanges ? { loop, exit, body, stride } : undefined;
}

/** The loop up to the last rounds, and each of these if it is to be made. */
function written(
  { loop, exit, body, stride }: Halving,
  b: KernelBuilder,
  { vars }: Kernel,
  liveness: Liveness,
): readonly Stmt[] {
  const { label, pos } = loop;
  const [before, after, inside] = [liveness.before(loop), liveness.after(loop), assignedIn(body)];
  const own = vars.filter(({ id }) => inside.has(id) && !before.has(id) && !after.has(id));
  const is = (value: number): Expr => compare('eq', read(stride), i32(value));
  const test = ifElse(STRIDES.map(is).reduce(or, exit), [{ op: 'break', label, pos }], [], pos);
  return [
    { ...loop, body: [test, ...body] },
    ...STRIDES.map((value) => {
      // What lanes of a variable lie apart by differs from round to round.
      const copies = new Map(own.map((v) => [v.id, b.variable(v.type, v.name)] as const));
      const round = renamed(
        body.map((s) => copyAt(s, stride, constant('i32', value), anew)),
        copies,
      );
      return ifElse(is(value), [...round, assign(stride, binary('shr', i32(value), i32(1)), pos)], [], pos);
    }),
  ];
}
