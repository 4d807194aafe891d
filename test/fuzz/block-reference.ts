/**
 * Blocks of threads on the host: each thread is a generator that stops where threads meet. Between two meetings threads run one after another, in an order
 * that is given, so that what depends on it shows.
 */

/** Threads of a block wait in different places, or some that others wait for have returned. */
export class Diverged extends Error {}

interface Meeting {
  readonly kind: string;
  readonly value?: unknown;
  readonly op?: (a: unknown, b: unknown) => unknown;
  readonly init?: unknown;
}

type Thread = Generator<Meeting, number, unknown>;

function* meet(
  kind: string,
  value?: unknown,
  op?: Meeting['op'],
  init?: unknown,
): Generator<Meeting, unknown, unknown> {
  return yield { kind, value, ...(op && { op }), init };
}

const group = (name: string) => ({
  reduce: (v: unknown, op: Meeting['op']) => meet(`${name} reduce`, v, op),
  inclusiveScan: (v: unknown, op: Meeting['op']) => meet(`${name} inclusive`, v, op),
  exclusiveScan: (v: unknown, op: Meeting['op'], init: unknown) => meet(`${name} exclusive`, v, op, init),
});

/** What the text of a program calls. */
export const cudaOfBlocks = {
  syncThreads: () => meet('sync'),
  syncThreadsCount: (v: boolean) => meet('count', v),
  syncThreadsAnd: (v: boolean) => meet('and', v),
  syncThreadsOr: (v: boolean) => meet('or', v),
  block: group('block'),
  warp: group('warp'),
};

/** What each of those that meet gets, in the order of the threads. */
function outcome(all: readonly Meeting[]): unknown[] {
  const [first] = all;
  const [, form = first?.kind] = first?.kind.split(' ') ?? [];
  const values = all.map((m) => m.value);
  const op = first?.op ?? ((a: unknown) => a);
  const same = (v: unknown): unknown[] => values.map(() => v);
  switch (form) {
    case 'sync':
      return same(undefined);
    case 'count':
      return same(values.filter(Boolean).length);
    case 'and':
      return same(values.every(Boolean));
    case 'or':
      return same(values.some(Boolean));
    case 'reduce':
      return same(values.reduce((a, b) => op(a, b)));
    case 'inclusive':
      return values.map((_, k) => values.slice(0, k + 1).reduce((a, b) => op(a, b)));
    default:
      return values.map((_, k) => values.slice(0, k).reduce((a, b) => op(a, b), first?.init));
  }
}

/** Runs the threads of a block to their ends, the last first where `backwards`; their results. */
export function runBlock(threads: readonly Thread[], backwards: boolean): number[] {
  const results: number[] = threads.map(() => 0);
  const waiting = new Map<number, Meeting>();
  const inputs = new Map<number, unknown>(threads.map((_, t) => [t, undefined]));
  const live = new Set(threads.keys());
  while (live.size > 0) {
    const order = [...inputs.keys()].sort((a, b) => (backwards ? b - a : a - b));
    for (const t of order) {
      const step = threads[t]?.next(inputs.get(t));
      if (step === undefined) continue;
      if (step.done) {
        results[t] = step.value;
        live.delete(t);
      } else waiting.set(t, step.value);
    }
    inputs.clear();
    const groups = new Map<number, number[]>();
    for (const t of [...live].sort((a, b) => a - b)) {
      const at = waiting.get(t)?.kind.startsWith('warp') ? t >> 5 : -1;
      groups.set(at, [...(groups.get(at) ?? []), t]);
    }
    for (const [at, members] of groups) {
      const all = at === -1 ? [...live] : [...live].filter((t) => t >> 5 === at);
      const meetings = members.map((t) => waiting.get(t) as Meeting);
      const together = members.length === all.length && meetings.every((m) => m.kind === meetings[0]?.kind);
      if (!together) continue;
      outcome(meetings).forEach((v, k) => void inputs.set(members[k] ?? 0, v));
    }
    if (inputs.size === 0 && live.size > 0) throw new Diverged('threads wait in different places');
  }
  return results;
}

/** The text for the device, and for `runBlock`. */
export const forDevice = (text: string): string => text.replaceAll('«', '').replaceAll('»', '');
export const forHost = (text: string): string => text.replaceAll('«', '(yield* ').replaceAll('»', ')');
