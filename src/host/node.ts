/**
 * The half of the host for Node.js, and for Bun and Deno, which stand in for it.
 *
 * It imports no `node:` module, and touches nothing when it is loaded: modules are looked up when something needs them, and anything
 * may be missing, as it is where a bundle for pages was made by a tool that does not know them as such.
 */
import { attempt } from './attempt.ts';
import type { NodeModules, Turn } from './host.ts';

export function findNodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | undefined {
  // It throws in a runtime that has the function, and not the module.
  return attempt(() => globalThis.process?.getBuiltinModule?.(name) as NodeModules[Name] | undefined);
}

export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return attempt(() => globalThis.process?.env) ?? {};
}

export function platformName(): string {
  return globalThis.process?.platform ?? '';
}

export function processId(): number {
  return globalThis.process?.pid ?? 0;
}

export function workingFolder(): string | undefined {
  return globalThis.process?.cwd?.();
}

export function mayStartWorkers(): boolean {
  const { permission } = (globalThis.process ?? {}) as { readonly permission?: { has?(scope: string): boolean } };
  return permission?.has?.('worker') ?? true;
}

export function warn(message: string, kind: { readonly type: string; readonly code: string }): void {
  if (attempt(() => typeof globalThis.process?.emitWarning === 'function')) process.emitWarning(message, kind);
  else globalThis.console?.warn(`${kind.type} [${kind.code}]: ${message}`);
}

export function print(text: string): void {
  if (attempt(() => typeof globalThis.process?.stdout?.write === 'function')) process.stdout.write(`${text}\n`);
  else globalThis.console?.log(text);
}

export function printError(text: string): void {
  if (attempt(() => typeof globalThis.process?.stderr?.write === 'function')) process.stderr.write(`${text}\n`);
  else globalThis.console?.error(text);
}

export function markFailed(): void {
  const { process } = globalThis;
  if (process !== undefined && !process.exitCode) process.exitCode = 1;
}

export function atExit(listener: () => void): void {
  globalThis.process?.on?.('exit', listener);
}

export function onNextTurn(body: () => void): Turn {
  return typeof setImmediate === 'function' ? setImmediate(body) : setTimeout(body, 0);
}

export function onIdleTurn(body: () => void): NodeJS.Immediate | undefined {
  return typeof setImmediate === 'function' ? setImmediate(body).unref() : undefined;
}

export function interruptHandlers(): number {
  return globalThis.process?.listenerCount?.('SIGINT') ?? 0;
}

export function callInterruptHandlers(): void {
  const emitter: NodeJS.EventEmitter = process;
  emitter.emit('SIGINT', 'SIGINT', findNodeModule('node:os')?.constants.signals.SIGINT);
}
