/**
 * Guards around the end of a kernel as early returns: `if (c) { …; barrier; … }` with nothing after it is `if (!c) return; …`.
 *
 * A thread that skips what remains has nothing left to do: it has returned, and takes no part in later barriers. Minifiers
 * write the one form for the other, so both must mean the same. Which barriers are legal then is `barriers.ts`.
 */
import { ifElse, negate, ret } from '../builder.ts';
import type { Kernel, Stmt } from '../ops.ts';
import { hasBarrier } from './walk.ts';

/** The kernel with returns in place of guards, where barriers stand under guards that end with the kernel. */
export function returnAtEnds(kernel: Kernel): Kernel {
  return { ...kernel, body: atEnd(kernel.body) };
}

/** `list` is the last thing that a thread does. */
function atEnd(list: readonly Stmt[]): readonly Stmt[] {
  const last = list.at(-1);
  if (last === undefined || !hasBarrier([last])) return last?.op === 'return' ? atEnd(list.slice(0, -1)) : list;
  const before = list.slice(0, -1);
  if (last.op === 'block') return [...before, { ...last, body: atEnd(last.body) }];
  if (last.op !== 'if') return list;
  const [inThen, inElse] = [hasBarrier(last.then), hasBarrier(last.else)];
  if (inThen && inElse) return [...before, { ...last, then: atEnd(last.then), else: atEnd(last.else) }];
  const { cond, pos } = last;
  const leaving = inThen ? last.else : last.then;
  const guard = ifElse(inThen ? negate(cond) : cond, [...leaving, ret(pos)], [], pos);
  return [...before, guard, ...atEnd(inThen ? last.then : last.else)];
}
