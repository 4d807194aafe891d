/**
 * What a JavaScript runtime has beside the language, and not every runtime has: modules of Node.js, the process, warnings, turns of the
 * event loop. All that the library asks of it, it asks here; `npm run check` refuses the globals of Node.js elsewhere.
 *
 * Nothing is imported from Node.js: a bundler for pages would fail on it, and so would a runtime that lacks one of its modules. What
 * cannot do without a module says so when it is used.
 */
import { NotSupportedError } from '../errors.ts';
import type { NodeModules } from './host.ts';
import { findNodeModule } from './node.ts';

export { attempt } from './attempt.ts';
export type { Turn } from './host.ts';
export {
  atExit,
  callInterruptHandlers,
  environmentVariables,
  findNodeModule,
  interruptHandlers,
  markFailed,
  mayStartWorkers,
  onIdleTurn,
  onNextTurn,
  platformName,
  print,
  printError,
  processId,
  warn,
  workingFolder,
} from './node.ts';

/** A module of Node.js. Throws NotSupportedError where there is none. */
export function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const found = findNodeModule(name);
  if (found !== undefined) return found;
  throw new NotSupportedError('E_RUNTIME', `this needs ${name}, which this runtime does not have: run it in Node.js`);
}
