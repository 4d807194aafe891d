/**
 * Running something on this thread for a limited time: the engine ends it, within a loop of JavaScript or WebAssembly, too.
 *
 * Nothing of what was ended runs on: not even its `finally`. What must be put in order is the caller's affair. Engines other than
 * Node's do not know the limit and run to the end.
 */
import type { Context, Script } from 'node:vm';
import { findNodeModule } from '../host/index.ts';

let ready: { readonly script: Script; readonly context: Context; readonly inside: { body: () => void } } | undefined;

/** Calls `body`; false when it was ended because it took longer than so many milliseconds. Not for use within `body`. */
export function within(milliseconds: number, body: () => void): boolean {
  const vm = findNodeModule('node:vm');
  if (vm === undefined) {
    body();
    return true;
  }
  if (ready === undefined) {
    const inside = { body };
    ready = { script: new vm.Script('body()'), context: vm.createContext(inside), inside };
  }
  ready.inside.body = body;
  try {
    ready.script.runInContext(ready.context, { timeout: Math.max(1, Math.ceil(milliseconds)) });
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    ready.inside.body = nothing;
  }
}

function nothing(): void {}
