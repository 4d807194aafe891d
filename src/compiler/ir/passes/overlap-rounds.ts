/**
 * Four rounds at a time of short loops that read memory which nobody writes and then change other memory, such as a histogram's `for (i = grid(1); i < n; i += gridSize(1))`. What a round changes
 * keeps compilers from loading for the next one meanwhile, unless they see several rounds in a row.
 */
import { assign, binary, compare, constant, i32, ifElse, read, select } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { renamed } from './rename.ts';
import { type Copying, copyAt, isRead, laterBy, nodesIn, replaceLoops } from './round-copies.ts';
import { assignedIn, eachExpr, mayWrite, readOnlyParams, someExpr, someStmt } from './walk.ts';

const ROUNDS = 4;
/** Expression nodes of a round, at most. */
const MOST_NODES = 40;
/** Steps larger than this might wrap. */
const LONGEST_STEP = 2 ** 28;

/** The same kernel when nothing changes. */
export function overlapRounds(kernel: Kernel): Kernel {
  const unwritten = readOnlyParams(kernel);
  return replaceLoops(kernel, (loop, _, copying) => {
    const counted = countedLoop(loop, unwritten);
    return counted && severalAtOnce(loop, counted, copying);
  });
}

interface Counted {
  readonly counter: Var;
  readonly bound: Expr;
  readonly step: Expr;
  readonly body: readonly Stmt[];
}

/** `for (…; counter < bound; counter += step)` around a short straight body, bound and step the same in all rounds. */
function countedLoop(loop: Loop, unwritten: ReadonlySet<number>): Counted | undefined {
  const tested = testedLoop(loop);
  const [update] = loop.update;
  if (tested === undefined || loop.update.length !== 1 || update?.op !== 'assign') return undefined;
  const { exit, body } = tested;
  const { var: counter, value } = update;
  if (counter.type !== 'i32' || exit.op !== 'compare' || exit.fn !== 'ge' || !isRead(exit.a, counter)) return undefined;
  // Compilers write out loops whose rounds they can count.
  if (exit.b.op === 'const') return undefined;
  if (value.op !== 'binary' || value.fn !== 'add' || !isRead(value.a, counter)) return undefined;
  const assigned = assignedIn([...body, update]);
  const isSteady = (e: Expr): boolean =>
    !someExpr(e, (x) => x.op === 'load' || (x.op === 'var' && assigned.has(x.var.id)));
  if (!isSteady(exit.b) || !isSteady(value.b) || assignedIn(body).has(counter.id)) return undefined;
  const isStraight = !someStmt(body, (s) => s.op !== 'assign' && s.op !== 'store' && s.op !== 'atomic');
  if (!isStraight || !body.some(mayWrite) || nodesIn(body) > MOST_NODES) return undefined;
  let loads = false;
  eachExpr(body, (e) => {
    loads ||= e.op === 'load' && e.mem.array.space === 'global' && unwritten.has(e.mem.array.param ?? -1);
  });
  return loads ? { counter, bound: exit.b, step: value.b, body } : undefined;
}

/** The loop with several rounds in one, as long as there are so many, and the loop as it was behind it. */
function severalAtOnce(loop: Loop, { counter, bound, step, body }: Counted, { b, own }: Copying): Stmt[] {
  const { pos } = loop;
  const last = b.variable('i32', '%last');
  // The last of the rounds is below the bound where the counter is below this; nothing wraps.
  const mayOverlap = [
    compare('gt', step, i32(0)),
    compare('le', step, i32(LONGEST_STEP)),
    compare('ge', bound, i32(0)),
  ];
  const far = binary('sub', bound, binary('mul', step, i32(ROUNDS - 1)));
  const until = select(
    mayOverlap.reduce((x, y) => binary('and', x, y)),
    far,
    constant('i32', -(2 ** 31)),
  );
  const rounds = Array.from({ length: ROUNDS }, (_, k) => {
    const copies = new Map(own().map((v) => [v.id, b.variable(v.type, v.name)]));
    return renamed(
      body.map((s) => copyAt(s, counter, laterBy(read(counter), step, k))),
      copies,
    );
  }).flat();
  const label = b.label();
  const leave = ifElse(compare('ge', read(counter), read(last)), [{ op: 'break', label, pos }], [], pos);
  return [
    assign(last, until, pos),
    {
      op: 'loop',
      label,
      body: [leave, ...rounds],
      update: [assign(counter, laterBy(read(counter), step, ROUNDS), pos)],
      pos,
    },
    loop,
  ];
}
