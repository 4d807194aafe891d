/**
 * Runs a case: checks the contestants' results against each other, then times them in turns, so that what else the machine does in
 * the meantime concerns all of them alike.
 */
import { cuda, type DeviceNDArray, NDArray, ndarray } from 'tsamba';
import { median } from '../statistics.ts';
import { type Argument, type Contest, difference, type HostArray, type Launch, random } from './case.ts';
import { load } from './compilers.ts';

/** `tsamba` as the device does by default, `unchecked` without bounds checks, `plain` JavaScript, or a library of C. */
export type ContestantId = string;

export interface Configuration {
  readonly contestants: readonly ContestantId[];
  readonly libraries: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** Whether one thread does all the work, so that its own time can be taken. */
  readonly oneThread: boolean;
}

/** Milliseconds. */
export interface Timing {
  readonly median: number;
  readonly min: number;
}

interface Contestant {
  readonly id: ContestantId;
  run(): void;
  /** Gives the results their first values back. */
  reset(): void;
  results(): readonly HostArray[];
  dispose?(): void;
}

/** A sample takes at least so long, in milliseconds: short kernels are run several times for one. */
const SAMPLE = 1.5;
const WARM_UP = 2;
/** Before that each runs alone, so often or so many milliseconds: engines compile code a second time, better, after some of its runs. */
const ALONE = { runs: 40, milliseconds: 100 };
/** Plain JavaScript takes many times as long, and is compared more coarsely. */
const PLAIN_ROUNDS = 5;

function warmUp(contestant: Contestant): void {
  const end = performance.now() + ALONE.milliseconds;
  for (let k = 0; k < ALONE.runs && performance.now() < end; k++) contestant.run();
}

/**
 * The order of a round. Who comes after a certain contestant finds what that one left in the caches: where checked and unchecked code
 * followed each other in five rounds of nine one way and in four the other, medians told them apart by that alone.
 */
function shuffled(count: number, seed: number): readonly number[] {
  const keys = random(count, seed * 7919);
  return [...keys.keys()].sort((a, b) => keys[a] - keys[b]);
}

export class Runner {
  readonly #configuration: Configuration;
  readonly #libraries: Readonly<Record<string, ReturnType<typeof load>>>;
  readonly #now: () => number;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    this.#libraries = Object.fromEntries(
      Object.entries(configuration.libraries).map(([id, path]) => [id, load(path)] as const),
    );
    const clock = Object.values(this.#libraries)[0]?.['thread_milliseconds'];
    this.#now = configuration.oneThread && clock !== undefined ? () => clock() : () => performance.now();
  }

  /** Throws where results differ. */
  run(contest: Contest): Record<ContestantId, Timing> {
    const contestants = this.#contestants(contest);
    check(contestants, contest);
    for (const c of contestants) warmUp(c);
    const repeats = contestants.map((c) => {
      const once = Math.min(this.#time(c, 1), this.#time(c, 1));
      return Math.min(1000, Math.ceil(SAMPLE / Math.max(once, 1e-4)));
    });
    const times = contestants.map((): number[] => []);
    for (let round = 0; round < this.#configuration.rounds + WARM_UP; round++) {
      for (const k of shuffled(contestants.length, round + 1)) {
        const c = contestants[k];
        if (c.id === 'plain' && round >= PLAIN_ROUNDS + WARM_UP) continue;
        // C and JavaScript have arrays in common, which one leaves in the caches for the next; those of the device are its own.
        c.run();
        const t = this.#time(c, repeats[k]);
        if (round >= WARM_UP) times[k].push(t);
      }
    }
    for (const c of contestants) c.dispose?.();
    return Object.fromEntries(
      contestants.map((c, k) => {
        const [middle, min] = [median(times[k]), Math.min(...times[k])].map((ms) => Number(ms.toFixed(5)));
        return [c.id, { median: middle, min }] as const;
      }),
    );
  }

  #time(contestant: Contestant, repeats: number): number {
    const start = this.#now();
    for (let k = 0; k < repeats; k++) contestant.run();
    return (this.#now() - start) / repeats;
  }

  #contestants(contest: Contest): readonly Contestant[] {
    const first = contest.results.map((a) => a.slice());
    const arrays: DeviceArrays = new Map();
    const onHost = (id: ContestantId, run: () => void): Contestant => ({
      id,
      run,
      reset: () => contest.results.forEach((a, k) => a.set(first[k] as never)),
      results: () => contest.results.map((a) => a.slice()),
    });
    return this.#configuration.contestants.map((id) => {
      if (id === 'tsamba') return onDevice(id, contest, first, arrays, {});
      if (id === 'unchecked') return onDevice(id, contest, first, arrays, { boundsCheck: false });
      if (id === 'plain') return onHost(id, contest.plain);
      const [name, ...args] = contest.c;
      const call = this.#libraries[id][name];
      return onHost(id, () => call(...args));
    });
  }
}

/** What all contestants on the device work on, as all of C work on the host's arrays: where arrays lie decides what caches hold. */
type DeviceArrays = Map<HostArray, DeviceNDArray>;

function onDevice(
  id: ContestantId,
  contest: Contest,
  first: readonly HostArray[],
  arrays: DeviceArrays,
  options: { boundsCheck?: boolean },
): Contestant {
  const argument = (a: Argument): unknown => {
    if (typeof a === 'number') return a;
    const data = a instanceof NDArray ? (a.data as HostArray) : a;
    let array = arrays.get(data);
    if (array === undefined) {
      array = cuda.toDevice(a as never);
      arrays.set(data, array);
    }
    return array;
  };
  const launches = contest.launches.map(({ kernel, args, ...shape }: Launch) => {
    const compiled = cuda.jit(kernel as (...args: unknown[]) => void, options);
    const ready = args.map(argument);
    return () => compiled.launch(shape as never, ...ready);
  });
  const device = contest.results.map((a) => arrays.get(a) as DeviceNDArray);
  return {
    id,
    run() {
      for (const launch of launches) launch();
      cuda.synchronize();
    },
    reset: () => device.forEach((d, k) => d.ravel().copyToDevice(first[k] as never)),
    results: () => device.map((d) => ndarray(d.copyToHost()).ravel().data as HostArray),
    dispose() {
      for (const d of arrays.values()) d.dispose();
      arrays.clear();
    },
  };
}

/** The last contestant's results are what all others are held to: those of C, or of plain JavaScript where there is no compiler. */
function check(contestants: readonly Contestant[], contest: Contest): void {
  const outcomes = contestants.map((c) => {
    c.reset();
    c.run();
    return c.results();
  });
  const reference = outcomes.length - 1;
  contestants.forEach((c, k) => {
    contest.results.forEach((_, at) => {
      const wrong = difference(outcomes[k][at], outcomes[reference][at], contest);
      if (wrong !== undefined) throw new Error(`${c.id} and ${contestants[reference].id} differ: ${wrong}`);
    });
  });
}
