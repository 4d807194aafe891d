/**
 * Strided copies and fills on a GPU: random layouts against loops over single elements, large staged transfers, rates.
 *
 * Layouts come from a generator with a seed that the note names, so that a failure can be repeated.
 */
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { same } from '../../testsuite/assert.ts';
import { blockingDriver } from '../support/blocking-driver.ts';
import type { GpuModule } from './suite.ts';

const MIB = 2 ** 20;

/** A linear congruential generator: whole numbers below `n`. */
function generator(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

interface Side {
  readonly strides: number[];
  /** Byte offsets of the elements, in the order of indices, from the start of the buffer. */
  readonly at: number[];
  readonly first: number;
  readonly bytes: number;
}

/** A layout of one of the kinds that programs have, and of kinds that they seldom have. */
function layout(random: (n: number) => number, shape: readonly number[], itemSize: number): Side {
  const compact = shape.map((_, k) => shape.slice(k + 1).reduce((a, b) => a * b, itemSize));
  const kinds = [
    compact,
    compact.map((_, k) => shape.slice(0, k).reduce((a, b) => a * b, itemSize)),
    compact.map((stride, k) => stride * (k === shape.length - 1 ? 1 : 2)),
    compact.map((stride) => stride * ([1, -1, 2, -3][random(4)] ?? 1)),
    compact.map((stride) => (random(3) === 0 ? 0 : stride)),
    shape.map(() => random(81) - 40),
  ];
  const strides = kinds[random(kinds.length)] ?? compact;
  let at = [0];
  shape.forEach((n, k) => {
    at = at.flatMap((from) => Array.from({ length: n }, (_, i) => from + i * (strides[k] ?? 0)));
  });
  const low = at.reduce((a, b) => Math.min(a, b), 0);
  const high = at.reduce((a, b) => Math.max(a, b), 0);
  const shift = random(18);
  return { strides, at: at.map((a) => a - low + shift), first: shift - low, bytes: high + itemSize - low + shift + 5 };
}

const noise = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, k) => (k * 37 + (k >> 8)) & 255);

interface Case {
  readonly region: { readonly shape: number[]; readonly itemSize: number };
  readonly to: Side;
  readonly from: Side;
  readonly random: (n: number) => number;
}

/** Runs one kind of copy on random layouts; `run` gives what the target's bytes are afterwards, and what they were. */
async function layouts(
  seed: number,
  cases: number,
  run: (driver: BlockingDriver, c: Case) => unknown,
): Promise<string> {
  const driver = blockingDriver();
  const random = generator(seed);
  for (let k = 0; k < cases; k++) {
    const shape = Array.from({ length: random(6) }, () => 1 + random(random(4) === 0 ? 40 : 5));
    while (shape.reduce((a, b) => a * b, 1) > 2000) shape.pop();
    const itemSize = [1, 2, 3, 4, 6, 8, 12, 16, 24][random(9)] ?? 1;
    const region = { shape, itemSize };
    const c = { region, to: layout(random, shape, itemSize), from: layout(random, shape, itemSize), random };
    try {
      await run(driver, c);
    } catch (error) {
      const what = JSON.stringify({ k, region, to: c.to.strides, from: c.from.strides });
      throw new Error(`seed ${seed}, ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return `${cases} layouts, seed ${seed}`;
}

function equal(got: Uint8Array, wanted: Uint8Array): void {
  const at = got.findIndex((byte, k) => byte !== wanted[k]);
  if (at >= 0) throw new Error(`byte ${at} of ${wanted.length} is ${got[at]}, not ${wanted[at]}`);
}

/** The target's bytes after a loop over the elements. */
function expected(c: Case, before: Uint8Array, from: Uint8Array, shift = 0): Uint8Array {
  const wanted = before.slice();
  const { itemSize } = c.region;
  c.to.at.forEach((t, k) => {
    const s = (c.from.at[k] ?? 0) + shift;
    wanted.set(from.subarray(s, s + itemSize), t);
  });
  return wanted;
}

/** Device memory with these bytes, for the time of a call; what it holds afterwards, when asked. */
async function onDevice<T>(
  driver: BlockingDriver,
  bytes: Uint8Array,
  use: (pointer: number) => T | Promise<T>,
): Promise<T> {
  const pointer = Number(driver.allocate(bytes.length));
  try {
    driver.copyToDevice(pointer, bytes);
    return await use(pointer);
  } finally {
    driver.free(pointer);
  }
}

function read(driver: BlockingDriver, pointer: number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  driver.copyToHost(out, pointer);
  return out;
}

const upload = (driver: BlockingDriver, c: Case): Promise<void> => {
  const before = new Uint8Array(c.to.bytes).fill(0xee);
  const source = noise(c.from.bytes);
  return onDevice(driver, before, (pointer) => {
    const { to, from, region } = c;
    driver.copyToDeviceStrided({
      target: { pointer: pointer + to.first, strides: to.strides },
      source: { bytes: source, offset: from.first, strides: from.strides },
      ...region,
    });
    equal(read(driver, pointer, before.length), expected(c, before, source));
  });
};

const download = (driver: BlockingDriver, c: Case): Promise<void> => {
  const source = noise(c.from.bytes);
  const before = new Uint8Array(c.to.bytes).fill(0xee);
  return onDevice(driver, source, async (pointer) => {
    const { to, from, region } = c;
    const target = before.slice();
    const later = c.random(2) === 0 ? driver.copyToHostLater : undefined;
    const copy = {
      target: { bytes: target, offset: to.first, strides: to.strides },
      source: { pointer: pointer + from.first, strides: from.strides },
      ...region,
    };
    if (later === undefined) driver.copyToHostStrided(copy);
    else await later.call(driver, copy);
    equal(target, expected(c, before, source));
  });
};

const within = (driver: BlockingDriver, c: Case): Promise<void> => {
  const distance = c.random(2) === 0 ? c.random(60) : c.to.bytes;
  const before = noise(distance + c.from.bytes + c.to.bytes);
  return onDevice(driver, before, (pointer) => {
    const { to, from, region } = c;
    driver.copyOnDeviceStrided({
      target: { pointer: pointer + to.first, strides: to.strides },
      source: { pointer: pointer + distance + from.first, strides: from.strides },
      ...region,
    });
    equal(read(driver, pointer, before.length), expected(c, before, before, distance));
  });
};

const fill = (driver: BlockingDriver, c: Case): Promise<void> => {
  const itemSize = [1, 2, 4, 8, 16][c.random(5)] ?? 1;
  const period = [1, 2, 4, 8, 16][c.random(5)] ?? 1;
  const bytes = Array.from({ length: 16 }, () => c.random(256));
  const pattern = Uint8Array.from({ length: itemSize }, (_, k) => bytes[k % period] ?? 0);
  const before = new Uint8Array(c.to.bytes + 16).fill(0xee);
  return onDevice(driver, before, (pointer) => {
    const { shape } = c.region;
    driver.fillStrided({ target: { pointer: pointer + c.to.first, strides: c.to.strides }, shape, pattern });
    const wanted = before.slice();
    for (const at of c.to.at) wanted.set(pattern, at);
    equal(read(driver, pointer, before.length), wanted);
  });
};

/** Pageable memory, large enough for threads, with sizes that end in the middle of a piece. */
function staged(): string {
  const driver = blockingDriver();
  const sizes = [64 * MIB, 32 * MIB + 12_345, 16 * MIB + 1, 200 * MIB - 7, 8 * MIB];
  for (const bytes of sizes) {
    const source = new Uint8Array(bytes);
    new Uint32Array(source.buffer, 0, bytes >> 2).forEach((_, k, words) => {
      words[k] = Math.imul(k, 2654435761);
    });
    const pointer = Number(driver.allocate(bytes));
    driver.copyToDevice(pointer, source);
    const back = new Uint8Array(bytes);
    driver.copyToHost(back, pointer);
    same(Buffer.compare(source, back), 0, `${bytes} bytes`);
    const stream = driver.createStream();
    driver.fillStrided({ target: { pointer, strides: [1] }, shape: [bytes], pattern: Uint8Array.of(0) }, stream);
    driver.copyToDevice(pointer, source, stream);
    back.fill(0);
    driver.copyToHost(back, pointer, stream);
    driver.synchronizeStream(stream);
    same(Buffer.compare(source, back), 0, `${bytes} bytes on a stream`);
    driver.destroyStream(stream);
    driver.free(pointer);
  }
  return `${sizes.length} sizes`;
}

/** The event loop goes on during a large download, and what follows on the stream cannot spoil it. */
async function later(): Promise<string> {
  const driver = blockingDriver();
  const bytes = 256 * MIB + 3;
  const pointer = Number(driver.allocate(bytes));
  const device = { pointer, strides: [1] };
  const shape = [bytes];
  driver.fillStrided({ target: device, shape, pattern: Uint8Array.of(42) });
  const target = new Uint8Array(bytes);
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  const host = { bytes: target, offset: 0, strides: [1] };
  const done = driver.copyToHostLater?.({ target: host, source: device, shape, itemSize: 1 });
  driver.fillStrided({ target: device, shape, pattern: Uint8Array.of(7) });
  const began = performance.now();
  await done;
  const took = performance.now() - began;
  clearInterval(timer);
  driver.free(pointer);
  same(done !== undefined && target.every((byte) => byte === 42), true, 'the bytes as they were at the call');
  same(longest < 50, true, `the event loop stood still for ${longest.toFixed(1)} ms`);
  return `${(bytes / took / 1e6).toFixed(1)} GB/s, longest turn ${longest.toFixed(1)} ms`;
}

/** Rows of 1 KiB in pinned memory go at 0.8 of the rate of contiguous copies, at least. */
function rows(): string {
  const driver = blockingDriver();
  const bytes = 64 * MIB;
  const host = driver.allocateHost(2 * bytes, { kind: 'pinned' });
  const pointer = Number(driver.allocate(bytes));
  const rate = (run: () => void): number => {
    const times = Array.from({ length: 6 }, () => {
      const began = performance.now();
      run();
      return performance.now() - began;
    });
    return bytes / Math.min(...times) / 1e6;
  };
  const contiguous = rate(() => driver.copyToDevice(pointer, host.bytes.subarray(0, bytes)));
  const region = { shape: [bytes / 1024, 1024], itemSize: 1 };
  const dense = { pointer, strides: [1024, 1] };
  const gaps = { bytes: host.bytes, offset: 0, strides: [2048, 1] };
  const up = rate(() => driver.copyToDeviceStrided({ target: dense, source: gaps, ...region }));
  const down = rate(() => driver.copyToHostStrided({ target: gaps, source: dense, ...region }));
  driver.free(pointer);
  driver.freeHost(host);
  same(Math.min(up, down) >= 0.8 * contiguous, true, `rows ${up}, ${down}, contiguous ${contiguous}`);
  return `GB/s: contiguous ${contiguous.toFixed(1)}, rows up ${up.toFixed(1)}, down ${down.toFixed(1)}`;
}

export const copyTests: GpuModule = {
  chapter: 'nvidia copies',
  tests: [
    { name: 'random layouts to the device', run: () => layouts(11, 400, upload) },
    { name: 'random layouts to the host, at once and later', run: () => layouts(12, 400, download) },
    { name: 'random layouts on the device, with overlap', run: () => layouts(13, 400, within) },
    { name: 'random fills', run: () => layouts(14, 400, fill) },
    { name: 'large pageable transfers', run: staged },
    { name: 'a large download leaves the event loop alone', run: later },
    { name: 'rows of pinned memory at full speed', run: rows },
  ],
};
