/**
 * How much private memory a work-group may have on processors.
 *
 * PoCL runs all work items of a group in one thread and keeps their private arrays on its stack: a group that needs more ends the
 * process without a word. Measured with PoCL 3.1: groups run up to some kilobytes below the stack that glibc gives to threads.
 */
import { nodeModule } from '../../host/index.ts';
import type { Listed } from './platforms.ts';

const KIB = 2 ** 10;
/** What the rest of the stack is for: values that work items keep across barriers, and calls. */
const KEPT_FREE = 1 / 8;

/** What threads get where the process's own stack has no limit: glibc on x86-64 and AArch64. */
const WITHOUT_LIMIT = 2048 * KIB;
/** What threads get by default on other systems. */
const OTHERS: Readonly<Partial<Record<NodeJS.Platform, number>>> = { darwin: 512 * KIB, win32: 1024 * KIB };

/** Bytes that the work items of a group may have together; undefined where the device itself says when it is too much. */
export function privateBytesPerGroup({ hardware }: Pick<Listed, 'hardware'>): number | undefined {
  if (hardware !== 'cpu') return undefined;
  return Math.floor(stackOfThreads() * (1 - KEPT_FREE));
}

/** Bytes of the stack of threads that are made with no size of their own. */
function stackOfThreads(): number {
  return OTHERS[process.platform] ?? stackOf(limitsOfProcess());
}

function limitsOfProcess(): string {
  try {
    return nodeModule('node:fs').readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}

/** The same by the text of /proc/self/limits. */
export function stackOf(limits: string): number {
  const soft = /^Max stack size\s+(\d+)\s/m.exec(limits)?.[1];
  return soft === undefined ? WITHOUT_LIMIT : Number(soft);
}
