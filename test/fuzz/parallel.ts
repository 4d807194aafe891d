/**
 * Random programs of `tsamba/parallel` on the current device, against plain JavaScript: each a primitive with random elements of a random type, of any number and layout, in
 * arrays or lazy, with operators that need not commute; and nothing may be left of what it made.
 *
 *   npx tsx test/fuzz/parallel.ts --device cpu --programs 10000 --seed 1
 */
import { cuda } from '../../src/index.ts';
import { ALONG } from './parallel-axis.ts';
import { MOVING } from './parallel-moving.ts';
import { REDUCING } from './parallel-reducing.ts';
import { Trial } from './parallel-trial.ts';
import { Random } from './random.ts';

const PROGRAMS: Readonly<Record<string, (t: Trial) => Promise<void>>> = { ...REDUCING, ...MOVING, ...ALONG };
/** What programs are of, one after another. */
export const NAMES: readonly string[] = Object.keys(PROGRAMS);

/** Options of a run. */
export interface Run {
  readonly programs: number;
  readonly seed: number;
  /** The greatest number of elements. */
  readonly most?: number | undefined;
  /** After so many failures it is over. */
  readonly failures?: number | undefined;
}

/** Runs programs one after another, and gives what went wrong. */
export async function runParallel({ programs, seed, most = 25_000, failures = 1 }: Run): Promise<string[]> {
  const wrong: string[] = [];
  for (let k = seed; k < seed + programs && wrong.length < failures; k++) {
    const what = await runOne(k, most);
    if (what !== undefined) wrong.push(what);
  }
  return wrong;
}

async function runOne(seed: number, most: number): Promise<string | undefined> {
  const name = NAMES[seed % NAMES.length] as string;
  const before = cuda.memoryStats().live;
  const t = new Trial(new Random(seed), most);
  const failed = (what: string): string => `seed ${seed}, ${name}: ${what}\n${t.text}`;
  try {
    await (PROGRAMS[name] as (t: Trial) => Promise<void>)(t);
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    t.dispose();
  }
  const left = cuda.memoryStats().live - before;
  // Less: meanwhile something older was collected.
  return left <= 0 ? undefined : failed(`${left} bytes are left`);
}
