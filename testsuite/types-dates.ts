/**
 * Chapter: dates. datetime64 and timedelta64 in every unit: differences, sums and comparisons against arithmetic on bigints and `Date` of the
 * host, NaT as NumPy has it, conversion between units over the calendar.
 */
import {
  cuda,
  type DeviceNDArray,
  type DType,
  datetime64,
  f64,
  i32,
  i64,
  isNaT,
  NaT,
  type NDArray,
  ndarray,
  struct,
  type TimeUnit,
  timedelta64,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

const DAY = 86_400_000;
const UNITS: readonly TimeUnit[] = ['Y', 'M', 'W', 'D', 'h', 'm', 's', 'ms', 'us', 'ns'];

/** Instants in milliseconds, on both sides of 1970, at ends of months, in leap years and none. */
const INSTANTS = [
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2000-02-29T12:34:56.789Z',
  '1900-03-01T00:00:00.000Z',
  '2026-11-23T08:05:00.001Z',
  '1968-02-28T23:00:00.000Z',
  '2100-12-31T00:00:00.000Z',
  '1970-03-01T00:00:00.000Z',
  '1600-01-31T05:00:00.000Z',
].map((text) => Date.parse(text));
const N = INSTANTS.length + 1;

type Dates = DeviceNDArray<datetime64, 1>;
type Counts = DeviceNDArray<timedelta64, 1>;

function floorDiv(a: bigint, b: bigint): bigint {
  return a < 0n && a % b !== 0n ? a / b - 1n : a / b;
}

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  W: 7n * 86_400n * 10n ** 9n,
  D: 86_400n * 10n ** 9n,
  h: 3600n * 10n ** 9n,
  m: 60n * 10n ** 9n,
  s: 10n ** 9n,
  ms: 10n ** 6n,
  us: 1000n,
  ns: 1n,
};

/** The count of an instant, by the calendar of `Date`. */
function count(ms: number, unit: TimeUnit): bigint {
  const date = new Date(ms);
  if (unit === 'Y') return BigInt(date.getUTCFullYear() - 1970);
  if (unit === 'M') return BigInt((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth());
  return floorDiv(BigInt(ms) * 10n ** 6n, NANOSECONDS[unit] as bigint);
}

/** The first millisecond of what a count names. */
function startOf(n: bigint, unit: TimeUnit): bigint {
  if (unit === 'Y' || unit === 'M') {
    const date = new Date(0);
    date.setUTCFullYear(1970, Number(n) * (unit === 'Y' ? 12 : 1), 1);
    return BigInt(date.getTime());
  }
  return (n * (NANOSECONDS[unit] as bigint)) / 10n ** 6n;
}

/** The instants in a unit; in nanoseconds the years that 64 bits hold. */
function instantsIn(unit: TimeUnit): number[] {
  return INSTANTS.map((ms) => (unit === 'ns' ? ms % (200 * 365 * DAY) : ms));
}

function dates(instants: readonly number[], unit: TimeUnit): Dates {
  const counts = [...instants.map((ms) => count(ms, unit)), NaT];
  return cuda.toDevice(ndarray(counts, { dtype: datetime64(unit) })) as unknown as Dates;
}

function durations(counts: readonly bigint[], unit: TimeUnit): Counts {
  return cuda.toDevice(ndarray(counts, { dtype: timedelta64(unit) })) as unknown as Counts;
}

/** The counts of dates or durations. */
async function counts(array: Dates | Counts): Promise<bigint[]> {
  return Array.from((await read((array as Counts).view(i64))) as unknown as BigInt64Array);
}

const Event = struct({ kind: i32, at: datetime64('s'), lasts: timedelta64('ms') });

export const dateTypes: readonly ConformanceTest[] = chapter('dates', {
  'have differences, which are added to them': async () => {
    const kernel = cuda.jit(
      (a: Vec<datetime64>, b: Vec<datetime64>, d: Vec<timedelta64>, back: Vec<datetime64>, less: Vec<datetime64>) => {
        const i = cuda.grid(1);
        if (i >= a.length) return;
        const step = a[i]! - b[(i + 3) % b.length]!;
        d[i] = step;
        back[i] = step + b[(i + 3) % b.length]!;
        less[i] = a[i]!;
        less[i] -= step;
      },
    );
    for (const unit of UNITS) {
      const own = instantsIn(unit);
      const a = dates(own, unit);
      const [d, back, less] = [durations(own.map(() => 0n).concat(0n), unit), dates(own, unit), dates(own, unit)];
      await launch(kernel, { threads: N, block: 4 }, a, a, d, back, less);
      const n = [...own.map((ms) => count(ms, unit)), NaT];
      const at = (k: number): bigint => n[k % N] as bigint;
      const known = (k: number): boolean => at(k) !== NaT && at(k + 3) !== NaT;
      sameElements(
        await counts(d),
        n.map((x, k) => (known(k) ? x - at(k + 3) : NaT)),
        `${unit}: difference`,
      );
      sameElements(
        await counts(back),
        n.map((x, k) => (known(k) ? x : NaT)),
        `${unit}: sum`,
      );
      sameElements(
        await counts(less),
        n.map((_, k) => (known(k) ? at(k + 3) : NaT)),
        `${unit}: difference of that`,
      );
    }
  },

  'are compared, in the finer of two units; NaT equals nothing': async () => {
    const kernel = cuda.jit((a: Vec<datetime64>, b: Vec<datetime64>, out: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const [x, y] = [a[i]!, b[(i + 1) % b.length]!];
      out[i] =
        (x === y ? 1 : 0) +
        (x !== y ? 2 : 0) +
        (x < y ? 4 : 0) +
        (x <= y ? 8 : 0) +
        (x > y ? 16 : 0) +
        (x >= y ? 32 : 0) +
        (isNaT(x) ? 64 : 0);
    });
    for (const [first, second] of [
      ['ms', 'ms'],
      ['D', 's'],
      ['s', 'D'],
      ['M', 'h'],
      ['us', 'Y'],
      ['Y', 'M'],
      ['W', 'D'],
    ] as const) {
      const shifted = INSTANTS.map((ms, k) => (k % 2 === 0 ? (INSTANTS[(k + N - 1) % N] ?? ms) : ms));
      const out = cuda.deviceArray(N, i32);
      await launch(kernel, { threads: N, block: 4 }, dates(INSTANTS, first), dates(shifted, second), out);
      const x = INSTANTS.map((ms) => startOf(count(ms, first), first));
      const y = shifted.map((ms) => startOf(count(ms, second), second));
      const expected = Array.from({ length: N }, (_, k) => {
        const [p, q] = [x[k], y[(k + 1) % N]];
        if (p === undefined || q === undefined) return 2 + (p === undefined ? 64 : 0);
        return (p === q ? 1 : 2) + (p < q ? 4 : 0) + (p <= q ? 8 : 0) + (p > q ? 16 : 0) + (p >= q ? 32 : 0);
      });
      sameElements(await read(out), expected, `${first} with ${second}: pair`);
    }
  },

  'convert to every unit, rounded down': async () => {
    const targets: Record<string, (a: Vec<datetime64>, out: Vec<datetime64>) => void> = {
      Y: (a, out) => void (out[cuda.threadIdx.x] = datetime64('Y')(a[cuda.threadIdx.x]!)),
      M: (a, out) => void (out[cuda.threadIdx.x] = datetime64('M')(a[cuda.threadIdx.x]!)),
      W: (a, out) => void (out[cuda.threadIdx.x] = datetime64('W')(a[cuda.threadIdx.x]!)),
      D: (a, out) => void (out[cuda.threadIdx.x] = datetime64('D')(a[cuda.threadIdx.x]!)),
      h: (a, out) => void (out[cuda.threadIdx.x] = datetime64('h')(a[cuda.threadIdx.x]!)),
      ms: (a, out) => void (out[cuda.threadIdx.x] = datetime64('ms')(a[cuda.threadIdx.x]!)),
      us: (a, out) => void (out[cuda.threadIdx.x] = datetime64('us')(a[cuda.threadIdx.x]!)),
    };
    for (const [to, body] of Object.entries(targets) as [
      TimeUnit,
      (a: Vec<datetime64>, out: Vec<datetime64>) => void,
    ][]) {
      const kernel = cuda.jit(body);
      for (const from of ['Y', 'M', 'D', 's', 'us'] as const) {
        const out = dates(INSTANTS, to);
        await launch(kernel, { grid: 1, block: N }, dates(INSTANTS, from), out);
        const expected = INSTANTS.map((ms) => count(Number(startOf(count(ms, from), from)), to));
        sameElements(await counts(out), [...expected, NaT], `${from} to ${to}: date`);
      }
    }
  },

  'durations are added, negated, multiplied and divided; 0 divides into NaT': async () => {
    const kernel = cuda.jit((a: Vec<timedelta64>, out: Vec<timedelta64>, n: Vec<i32>, by: bigint) => {
      const i = cuda.grid(1);
      if (i >= n.length) return;
      const x = a[i]!;
      out[4 * i] = -x + timedelta64('m')(2n);
      out[4 * i + 1] = x * BigInt(n[i]!) - by * x;
      out[4 * i + 2] = x / BigInt(n[i]!);
      out[4 * i + 3] = timedelta64('s')(i64(x) + 1n);
    });
    const x = [0n, 1n, -7n, 90n, NaT, 10n ** 15n];
    const n = [1, 0, 2, -4, 3, 7];
    const out = durations(new Array<bigint>(24).fill(0n), 's');
    await launch(kernel, { threads: 6, block: 4 }, durations(x, 's'), out, cuda.toDevice(new Int32Array(n)), 3n);
    const expected = x.flatMap((v, k) => {
      const m = BigInt(n[k] as number);
      if (v === NaT) return [NaT, NaT, NaT, NaT + 1n];
      return [120n - v, v * m - 3n * v, m === 0n ? NaT : v / m, v + 1n];
    });
    sameElements(await counts(out), expected, 'duration');
  },

  'are made of counts, and counted, where that is written': async () => {
    const start = datetime64('D')('2026-11-23');
    const kernel = cuda.jit((out: Vec<datetime64<'D'>>, numbers: Vec<f64>, longs: Vec<i64>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const d = datetime64('D')(start) + timedelta64('W')(BigInt(i));
      out[i] = i === 2 ? datetime64('D')('NaT') : d;
      if (i === 3) out[i] = NaT;
      numbers[i] = Number(d - datetime64('D')('2026-11-01'));
      longs[i] = i64(datetime64('h')(d));
    });
    const out = cuda.deviceArray(5, datetime64('D'));
    const [numbers, longs] = [cuda.deviceArray(5, f64), cuda.deviceArray(5, i64)];
    await launch(kernel, { threads: 5 }, out, numbers, longs);
    const got = (await (read(out) as unknown as Promise<NDArray<datetime64<'D'>, 1>>)).toArray();
    const wanted = [0, 7, undefined, undefined, 28].map((days) =>
      days === undefined ? 'NaT' : new Date(Date.parse('2026-11-23') + days * DAY).toISOString(),
    );
    sameElements(
      got.map((d) => (isNaT(d) ? 'NaT' : d.toISOString())),
      wanted,
      'date',
    );
    sameElements(await read(numbers), [22, 29, 36, 43, 50], 'number');
    sameElements(
      await read(longs),
      [0n, 7n, 14n, 21n, 28n].map((days) => (start + days) * 24n),
      'count',
    );
  },

  'are arguments of launches: Date, and durations of a stated unit': async () => {
    const kernel = cuda.jit(
      (
        dates: Vec<datetime64<'D'>>,
        target: datetime64,
        step: timedelta64<'D'>,
        hits: Vec<i32>,
        out: Vec<datetime64<'D'>>,
      ) => {
        const i = cuda.grid(1);
        if (i >= hits.length) return;
        hits[i] = dates[i] === target ? 1 : dates[i]! < target ? -1 : 0;
        out[i] = dates[i]! - step;
      },
    );
    const days = ['2005-02-27', '2005-02-28', '2005-03-01', 'NaT'];
    const given = cuda.toDevice(ndarray(days, { dtype: datetime64('D') }));
    const expected: [Date | ReturnType<typeof cuda.scalar<DType<datetime64<'D'>>>>, number[]][] = [
      [new Date('2005-02-28'), [-1, 1, 0, 0]],
      [new Date('2005-02-28T00:00:00.001Z'), [-1, -1, 0, 0]],
      [new Date(Number.NaN), [0, 0, 0, 0]],
      [cuda.scalar(datetime64('D') as DType<datetime64<'D'>>, '2005-03-01'), [-1, -1, 1, 0]],
    ];
    for (const [target, wanted] of expected) {
      const [hits, out] = [cuda.deviceArray(4, i32), cuda.deviceArray(4, datetime64('D'))];
      await launch(kernel, { threads: 4 }, given, target as Date, cuda.scalar(timedelta64('D'), 2n), hits, out);
      sameElements(await read(hits), wanted, `target ${String(target)}: hit`);
      same(String(await read(out)), 'NDArray datetime64[D] [4] [2005-02-25, 2005-02-26, 2005-02-27, NaT]');
    }
    throws(
      () => cuda.scalar(timedelta64('D'), 2),
      /an element of timedelta64\[D\] must be a bigint that counts D, got the number 2/,
      'E_CONVERT',
    );
  },

  'live in variables, structs, shared memory and functions; captured dates are compared': async () => {
    const deadline = new Date('2026-11-23T08:05:00Z');
    const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);
    const kernel = cuda.jit((events: Vec<typeof Event>, out: Vec<datetime64<'s'>>, flags: Vec<i32>) => {
      const shared = cuda.shared.array(4, datetime64('s'));
      const t = cuda.threadIdx.x;
      shared[t] = events[t]!.at;
      cuda.syncThreads();
      let last = shared[0]!;
      for (let k = 1; k < 4; k++) last = later(last, shared[k]!);
      out[t] = last;
      // What lasts is of milliseconds, and so is the sum.
      flags[t] = events[t]!.at + events[t]!.lasts > (deadline as unknown as bigint) ? 1 : 0;
      events[t]!.at = datetime64('s')(events[t]!.at + events[t]!.lasts);
    });
    const at = ['2026-11-23T08:04:59', '2026-11-23T08:05:00', '2020-01-01', '2026-11-23T08:04:58'];
    const lasts = [1001n, -1n, 5n, 1500n];
    const events = cuda.toDevice(
      ndarray(at.map((text, k) => ({ kind: k, at: text, lasts: lasts[k] })) as unknown as object[], { dtype: Event }),
    );
    const [out, flags] = [cuda.deviceArray(4, datetime64('s')), cuda.deviceArray(4, i32)];
    await launch(kernel, { grid: 1, block: 4 }, events as never, out, flags);
    sameElements(await read(flags), [1, 0, 0, 0], 'flag');
    const latest = (await (read(out) as unknown as Promise<NDArray<datetime64<'s'>, 1>>)).toArray();
    sameElements(
      latest.map((d) => d.getTime()),
      at.map(() => Date.parse('2026-11-23T08:05:00Z')),
      'latest',
    );
    const moved = (await read(events)) as unknown as { toArray(): { at: Date }[] };
    const ends = at.map(
      (text, k) => Math.floor((Date.parse(`${text}${text.includes('T') ? 'Z' : ''}`) + Number(lasts[k])) / 1000) * 1000,
    );
    sameElements(
      moved.toArray().map((e) => e.at.getTime()),
      ends,
      'moved',
    );
  },

  'what has no meaning is refused': async () => {
    const [days, months, step, month] = [
      dates([0], 'D'),
      dates([0], 'M'),
      durations([1n, 2n], 'D'),
      durations([1n, 2n], 'M'),
    ];
    type Two = (a: Vec<bigint>, b: Vec<bigint>) => void;
    const refusals: [Two, unknown, unknown, RegExp][] = [
      [(a, b) => void (a[0] = a[0]! + b[0]!), days, days, /datetime64\[D\] \+ datetime64\[D\] has no meaning/],
      [(a, b) => void (a[0] = a[0]! + b[0]!), days, month, /a duration in M has no meaning in D/],
      [(a, _) => void (a[0] = a[0]! + 5n), days, days, /datetime64\[D\] \+ a number has no meaning/],
      [(a, b) => void (a[0] = b[0]!), days, months, /a datetime64\[M\] is stored to datetime64\[D\]/],
      [(a, b) => void (a[0] = b[0]!), days, step, /a timedelta64\[D\] is stored to datetime64\[D\]/],
      [(a, b) => void (a[0] = a[0]! < b[0]! ? a[0]! : a[1]!), days, step, /a date is compared with a duration/],
      [(a, b) => void (a[0] = a[0]! / b[0]!), step, step, /timedelta64\[D\] \/ timedelta64\[D\] has no meaning/],
      [(a, _) => void (a[0] = -a[0]!), days, days, /- has no meaning for a datetime64\[D\]/],
      [
        (a, _) => void (a[0] = Math.abs(a[0] as unknown as number) as unknown as bigint),
        step,
        step,
        /Math.abs does not take a timedelta64\[D\]/,
      ],
    ];
    for (const [body, a, b, message] of refusals) {
      await rejects(() => launch(cuda.jit(body), { grid: 1, block: 1 }, a as never, b as never), message);
    }
  },

  'come from the host as Date, text or bigint, and go back as Date where that can hold them': async () => {
    const given = [new Date(INSTANTS[2] as number), '2026-11-23T08:05:00.123456789', 0n, 'NaT'] as const;
    const array = cuda.toDevice(ndarray([...given], { dtype: 'datetime64[ms]' }));
    same(array.__cuda_array_interface__.typestr, '<M8[ms]');
    const back = (await (read(array) as unknown as Promise<NDArray<datetime64<'ms'>, 1>>)).toArray();
    sameElements(
      back.map((d) => d.getTime()),
      [INSTANTS[2], Date.parse('2026-11-23T08:05:00.123Z'), 0, Number.NaN],
      'date',
    );
    const fine = ndarray(['2026-11-23T08:05:00.123456789', 'NaT'], { dtype: 'M8[ns]' });
    sameElements(fine, [1795421100123456789n, NaT], 'nanosecond');
    same(String(fine), 'NDArray datetime64[ns] [2] [2026-11-23T08:05:00.123456789, NaT]');
    same(String(fine.astype('M8[M]')), 'NDArray datetime64[M] [2] [2026-11, NaT]');
    same(durations([5n], 'us').__cuda_array_interface__.typestr, '<m8[us]');
    throws(
      () => ndarray([5], { dtype: 'M8[D]' }),
      /a bigint that counts D from 1970 on, got the number 5/,
      'E_CONVERT',
    );
    throws(
      () => ndarray(['2026-02-30'], { dtype: 'M8[D]' }),
      /an element of datetime64\[D\] must be a Date/,
      'E_CONVERT',
    );
    throws(() => ndarray.zeros(1, 'M8[fs]' as never), /takes a unit, one of Y, M, W/, 'E_DTYPE');
    await settled();
  },
});
