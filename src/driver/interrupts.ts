/**
 * Waiting on this thread in a way that lets the program's own SIGINT handlers run.
 *
 * Handlers are functions of JavaScript, and the event loop that would call them is what waits. Node can end a script when the signal
 * comes: so the wait is a script, and the handlers are called here, on the stack of the wait, which goes on afterwards. As in Python, a
 * handler that throws ends the wait with what it throws. Without handlers the signal ends the process, and nothing is done here.
 */
import type { Context, Script } from 'node:vm';
import { callInterruptHandlers, findNodeModule, interruptHandlers, nodeModule } from '../host/index.ts';

/** Thrown by `waitListening`: what a handler has thrown. */
export class Interruption {
  readonly reason: unknown;
  constructor(reason: unknown) {
    this.reason = reason;
  }
}

let ready: { readonly script: Script; readonly context: Context; readonly inside: { wait: () => void } } | undefined;

/** Whether the program handles SIGINT, and would be kept from it. */
export function listensForInterrupts(): boolean {
  return interruptHandlers() > 0 && findNodeModule('node:worker_threads')?.isMainThread === true;
}

/** As `Atomics.wait`; throws an `Interruption` when a handler throws. */
export function waitListening(int: Int32Array, index: number, value: number, milliseconds: number): void {
  if (!listensForInterrupts()) {
    Atomics.wait(int, index, value, milliseconds);
    return;
  }
  if (ready === undefined) {
    const vm = nodeModule('node:vm');
    const inside = { wait: (): void => undefined };
    ready = { script: new vm.Script('wait()'), context: vm.createContext(inside), inside };
  }
  const { script, context, inside } = ready;
  inside.wait = () => Atomics.wait(int, index, value, milliseconds);
  try {
    script.runInContext(context, { breakOnSigint: true });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    callHandlers();
  }
}

function callHandlers(): void {
  try {
    callInterruptHandlers();
  } catch (error) {
    throw new Interruption(error);
  }
}
