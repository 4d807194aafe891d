/**
 * Asking the engine to collect garbage now, without flags on the command line.
 *
 * V8 makes its `gc` function for contexts that are created while `--expose-gc` is set, which can be done at run time. The flag is
 * set back at once: code caches are keyed by the flags. Engines that refuse are left to collect when they like.
 */
import { nodeModule } from '../host/index.ts';

let collector: (() => void) | undefined;
let looked = false;

/** Runs a full collection, which blocks for milliseconds; false where the engine cannot be asked. Finalisers run later. */
export function collectGarbage(): boolean {
  if (!looked) {
    looked = true;
    collector = ownCollector() ?? newCollector();
  }
  collector?.();
  return collector !== undefined;
}

function ownCollector(): (() => void) | undefined {
  const { gc } = globalThis as { readonly gc?: unknown };
  return typeof gc === 'function' ? () => void Reflect.apply(gc, undefined, []) : undefined;
}

function newCollector(): (() => void) | undefined {
  try {
    const { setFlagsFromString } = nodeModule('node:v8');
    const { runInNewContext } = nodeModule('node:vm');
    setFlagsFromString('--expose-gc');
    try {
      const gc: unknown = runInNewContext('gc');
      return typeof gc === 'function' ? () => void Reflect.apply(gc, undefined, []) : undefined;
    } finally {
      setFlagsFromString('--no-expose-gc');
    }
  } catch {
    return undefined;
  }
}
