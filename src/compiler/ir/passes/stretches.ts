/**
 * Stretches of straight code: the longest runs of statements of some kinds that follow each other in a list.
 */
import { KernelBuilder } from '../builder.ts';
import type { Kernel, Stmt } from '../ops.ts';
import { mapLists } from './walk.ts';

/**
 * The kernel with each stretch of the statements that belong to it changed. `change` gives the same stretch back where it has nothing to change, and the
 * kernel is the same when all do.
 */
export function mapStretches<S extends Stmt>(
  kernel: Kernel,
  belongs: (s: Stmt) => s is S,
  change: (stretch: readonly S[], b: KernelBuilder) => readonly Stmt[],
): Kernel {
  const b = KernelBuilder.from(kernel);
  let changed = false;
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const out: Stmt[] = [];
    let stretch: S[] = [];
    const flush = (): void => {
      const done = change(stretch, b);
      changed ||= done !== stretch;
      out.push(...done);
      stretch = [];
    };
    for (const s of list) {
      if (belongs(s)) stretch.push(s);
      else {
        flush();
        out.push(mapLists(s, inList));
      }
    }
    flush();
    return out;
  };
  const body = inList(kernel.body);
  return changed ? { ...kernel, vars: [...b.vars], body } : kernel;
}
