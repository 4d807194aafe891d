/**
 * Who is told of failed work: random programs over streams, events, faults and all that waits, held against a model that knows nothing of
 * how devices keep faults. It has a graph of what was enqueued: work comes after what was before it on its stream, and after the marks that
 * the stream waited for. A wait covers what its mark comes after; it is told of a fault there unless somebody was told before it began.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { openCpu } from '../src/driver/cpu/index.ts';
import type { BlockingDriver } from '../src/driver/driver.ts';
import { openclProvider } from '../src/driver/opencl/index.ts';
import { simulatorProvider } from '../src/driver/simulator/index.ts';
import { cuda, type DeviceNDArray, f32, type i32, type Vec } from '../src/index.ts';
import { Context } from '../src/memory/context.ts';
import { cudaDevices } from '../src/memory/devices.ts';
import type { Stream } from '../src/stream/stream.ts';

/** Something enqueued: what it comes after, and whether it failed. */
interface Work {
  readonly after: readonly Work[];
  readonly fault: number | undefined;
}

/** A place in the queue of one stream. */
interface Line {
  readonly stream: Stream;
  last: Work | undefined;
}

interface Mark {
  readonly event: ReturnType<typeof cuda.event>;
  at: Work | undefined;
}

/** A wait that does not block, with what came of it. */
interface Wait {
  readonly covered: ReadonlySet<number>;
  readonly began: number;
  readonly settled: Promise<number | undefined>;
  readonly tells: boolean;
}

/** A launch that failed: on which stream, and when somebody was told of it. */
interface Failed {
  readonly number: number;
  readonly at: number;
  told: number;
  /**
   * From when on nobody need be told of it: what fails on a stream behind another fault is only counted, as long as nobody was told of
   * that. Devices that find faults late may tell of it all the same.
   */
  counted: number;
}

const NEVER = Number.POSITIVE_INFINITY;

function faultsBefore(last: Work | undefined): Set<number> {
  const found = new Set<number>();
  const seen = new Set<Work>();
  const open = last === undefined ? [] : [last];
  for (let work = open.pop(); work !== undefined; work = open.pop()) {
    if (seen.has(work)) continue;
    seen.add(work);
    if (work.fault !== undefined) found.add(work.fault);
    open.push(...work.after);
  }
  return found;
}

/** The launch that an error is about: kernels fail at an index that is its number. */
function numberOf(error: unknown): number {
  const found = /index (\d+) is out of range/.exec(String((error as Error)?.message));
  if (found === null) throw error;
  return Number(found[1]);
}

function numberThrown(body: () => unknown): number | undefined {
  try {
    body();
    return undefined;
  } catch (error) {
    return numberOf(error);
  }
}

function randomFrom(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 12345;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Everything that one random program needs. */
class Program {
  readonly #random: (n: number) => number;
  /** The streams; the first is the default one, which comes after all others. */
  readonly #lines: Line[];
  readonly #data: DeviceNDArray<f32, 1>[];
  readonly #kernel = cuda.jit(
    (x: Vec<f32>, at: i32) => {
      x[at] = 1;
    },
    { boundsCheck: true, name: 'touch' },
  );
  readonly #marks: Mark[];
  /** Launches that failed. */
  readonly #failed: Failed[] = [];
  #waits: Wait[] = [];
  #time = 0;
  #launches = 1000;
  readonly log: string[] = [];

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    const streams = [cuda.defaultStream(), cuda.stream(), cuda.stream(), cuda.stream()];
    this.#lines = streams.map((stream) => ({ stream, last: undefined }));
    this.#data = streams.map(() => cuda.deviceArray(8, f32));
    this.#marks = [0, 1, 2].map(() => ({ event: cuda.event(), at: undefined }));
  }

  async run(steps: number): Promise<void> {
    for (let k = 0; k < steps; k++) await this.#step();
    await this.#settle();
    for (;;) {
      const number = numberThrown(() => cuda.synchronize());
      this.#checkThrown('the end', number, this.#covered(0));
      if (number === undefined) break;
    }
    const untold = this.#failed.filter(({ told, counted }) => Math.min(told, counted) === NEVER);
    expect(untold, 'faults that nobody was told of').toEqual([]);
    for (const { stream } of this.#lines) stream.dispose();
    for (const array of this.#data) array.dispose();
  }

  async #step(): Promise<void> {
    const at = this.#random(4);
    const line = this.#lines[at] as Line;
    const { stream } = line;
    const mark = this.#marks[this.#random(3)] as Mark;
    switch (this.#random(12)) {
      case 0:
      case 1:
        return this.#launch(at, 0);
      case 2:
      case 3:
        return this.#launch(at, ++this.#launches);
      case 4:
        this.#note(`record on ${at}`);
        mark.event.record(at === 0 ? undefined : stream);
        mark.at = this.#tail(at);
        return;
      case 5:
        this.#note(`wait on ${at}`);
        mark.event.wait(at === 0 ? undefined : stream);
        line.last = { after: [line.last, mark.at].filter((work) => work !== undefined), fault: undefined };
        return;
      case 6:
      case 7:
        return this.#wait('done', at, stream.done(), true);
      case 8:
        return this.#wait(
          'copy',
          at,
          (this.#data[at] as DeviceNDArray).copyToHostAsync(at === 0 ? {} : { stream }),
          true,
        );
      case 9: {
        const called = new Promise<void>((resolve, reject) => {
          stream.addCallback((_, status) => (status === 0 ? resolve() : reject(new Error('callback'))));
        });
        return this.#wait('callback', at, called, false);
      }
      case 10: {
        const what = this.#random(3);
        if (what === 0) {
          const number = numberThrown(() => stream.synchronize());
          return this.#checkThrown(`synchronize ${at}`, number, this.#covered(at));
        }
        if (what === 1) {
          const number = numberThrown(() => cuda.synchronize());
          return this.#checkThrown('synchronize all', number, this.#covered(0));
        }
        const number = numberThrown(() => mark.event.synchronize());
        return this.#checkThrown('synchronize event', number, faultsBefore(mark.at));
      }
      default:
        return await this.#settle();
    }
  }

  #note(what: string): void {
    this.#time++;
    this.log.push(`${this.#time}: ${what}`);
  }

  /** What a wait on a stream comes after: on the default stream, everything. */
  #tail(at: number): Work {
    const lines = at === 0 ? this.#lines : [this.#lines[at] as Line];
    return { after: lines.flatMap(({ last }) => last ?? []), fault: undefined };
  }

  #covered(at: number): Set<number> {
    return faultsBefore(this.#tail(at));
  }

  #launch(at: number, number: number): void {
    this.#note(`launch ${number} on ${at}`);
    const line = this.#lines[at] as Line;
    const launch = { grid: 1, block: 1, stream: line.stream };
    this.#kernel.launch(launch, this.#data[at] as DeviceNDArray<f32, 1>, number);
    if (number > 0) {
      const behind = this.#failed.some((fault) => fault.at === at && Math.min(fault.told, fault.counted) === NEVER);
      this.#failed.push({ number, at, told: NEVER, counted: behind ? 0 : NEVER });
    }
    line.last = { after: line.last === undefined ? [] : [line.last], fault: number === 0 ? undefined : number };
  }

  #wait(what: string, at: number, promise: Promise<unknown>, tells: boolean): void {
    this.#note(`${what} on ${at}`);
    const settled = promise.then(
      () => undefined,
      (error: Error) => (tells ? numberOf(error) : -1),
    );
    this.#waits.push({ covered: this.#covered(at), began: this.#time, settled, tells });
  }

  /** Of the faults that a wait covers, those that it may be told of; and those of which one must be told. */
  #expected(covered: ReadonlySet<number>, began: number): { readonly may: number[]; readonly must: number[] } {
    const open = this.#failed.filter(({ number, told }) => covered.has(number) && told > began);
    const must = open.filter(({ counted }) => counted > began);
    return { may: open.map(({ number }) => number), must: must.map(({ number }) => number) };
  }

  #tell(number: number): void {
    const fault = this.#failed.find((each) => each.number === number) as Failed;
    fault.told = Math.min(fault.told, this.#time);
    for (const other of this.#failed) if (other.at === fault.at) other.counted = Math.min(other.counted, this.#time);
  }

  #checkThrown(what: string, number: number | undefined, covered: ReadonlySet<number>): void {
    this.#note(`${what}: ${number}`);
    const { may, must } = this.#expected(covered, this.#time);
    if (number === undefined) expect(must, what).toEqual([]);
    else {
      expect(may, what).toContain(number);
      this.#tell(number);
    }
  }

  async #settle(): Promise<void> {
    this.#note('settle');
    const waits = this.#waits;
    this.#waits = [];
    const numbers = await Promise.all(waits.map(({ settled }) => settled));
    for (const [i, { covered, began, tells }] of waits.entries()) {
      const number = numbers[i];
      const { may, must } = this.#expected(covered, began);
      const what = `the wait that began at ${began} gave ${number}`;
      if (number === undefined) expect(must, what).toEqual([]);
      else if (tells) expect(may, what).toContain(number);
      else expect(may, what).not.toEqual([]);
    }
    for (const [i, { tells }] of waits.entries()) {
      const number = numbers[i];
      if (tells && number !== undefined) this.#tell(number);
    }
  }
}

const devices: readonly [name: string, open: () => BlockingDriver, programs: number][] = [
  ['CPU device', () => openCpu({ threads: 1 }), 100],
  ['simulator', () => simulatorProvider.open(0), 50],
];
const opencl: typeof devices =
  openclProvider.probe().count > 0
    ? [['OpenCL', () => openclProvider.open(0), Number(process.env['TSAMBA_FAULT_PROGRAMS'] ?? 40)]]
    : [];

describe.each([...devices, ...opencl])('waiters on the %s', (_name, open, programs) => {
  const context = new Context(open());
  const leave = cudaDevices.enter(context);
  leave();
  afterAll(() => context.close());

  it(`are told of what failed before them, in ${programs} random programs`, { timeout: 300_000 }, async () => {
    const leave = cudaDevices.enter(context);
    try {
      for (let seed = 1; seed <= programs; seed++) {
        const program = new Program(seed);
        try {
          await program.run(25 + (seed % 4) * 10);
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}\n${program.log.join('\n')}`, { cause: error });
        }
      }
    } finally {
      leave();
    }
  });
});
