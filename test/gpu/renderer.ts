/**
 * The PTX renderer held against the reference interpreter on the GPU, bit for bit: every operation on every type at the corners of
 * its range, and random kernels.
 */
import { interpret } from '../../src/compiler/ir/interpret.ts';
import { randomSample, type Sample } from '../../src/compiler/ir/testing.ts';
import { operatorSamples } from '../../src/compiler/render/ptx/operators.testing.ts';
import { INPUT, ROW, randomKernel } from '../../src/compiler/render/wasm/programs.testing.ts';
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { blockingDriver } from '../support/blocking-driver.ts';
import { type GpuModule, skip } from './suite.ts';

/** Runs a sample on the device; what differs from what the interpreter leaves, if anything does. */
function difference(driver: BlockingDriver, sample: Sample): string | undefined {
  const { kernel, launch, args } = sample;
  const expected = sample.memory.slice();
  if (interpret(kernel, launch, args, expected).fault) return undefined;
  const base = driver.allocate(expected.length);
  const executable = driver.load({ kernel, name: sample.name });
  const values = kernel.params.map(({ type }, i) =>
    type === 'ptr' ? BigInt(base) + BigInt(args[i] ?? 0) : (args[i] ?? 0),
  );
  const got = sample.memory.slice();
  driver.copyToDevice(base, got);
  const shape = { grid: launch.grid, block: launch.block, sharedBytes: launch.sharedBytes ?? 0, aliased: true };
  executable.launch(shape, values, undefined);
  driver.copyToHost(got, base);
  executable.unload();
  driver.free(base);
  const at = got.findIndex((byte, i) => byte !== expected[i]);
  if (at < 0) return undefined;
  const word = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(at & -8, (at & -8) + 8)).toString('hex');
  return `${sample.name}: bytes at ${at & -8} are ${word(got)}, must be ${word(expected)}`;
}

function compare(samples: Iterable<Sample>): string {
  const driver = blockingDriver();
  let count = 0;
  const differences: string[] = [];
  for (const sample of samples) {
    const found = difference(driver, sample);
    if (found !== undefined) differences.push(found);
    count++;
  }
  if (differences.length > 0)
    throw new Error(`${differences.length} of ${count}:\n${differences.slice(0, 8).join('\n')}`);
  return `${count} kernels`;
}

function* randomSamples(count: number): Iterable<Sample> {
  for (let seed = 0; seed < count; seed++) yield randomSample(7000 + seed);
}

/** Programs with loops and jumps of every kind, unchecked. */
function* programs(count: number): Iterable<Sample> {
  for (let seed = 0; seed < count; seed++) {
    const threads = [32, 64, 48][seed % 3] ?? 32;
    const source = randomKernel(9000 + seed, { barriers: seed % 2 === 0, wide: true, threads });
    const words = 2 * threads * ROW;
    const memory = new Uint8Array(4 * (words + INPUT));
    new Int32Array(memory.buffer).set(
      Array.from({ length: INPUT }, (_, i) => ((i * 7919) % 100) - 30),
      words,
    );
    const block = threads === 48 ? ([12, 4, 1] as const) : ([threads, 1, 1] as const);
    const args = [0, words * 4, seed % 11, INPUT, words];
    yield { name: `program ${seed}`, kernel: source, launch: { grid: [2, 1, 1], block }, args, memory };
  }
}

function everyOperation(): string {
  // The upper half of a product is made for GPUs only.
  if (cudaDevices.currentContext().driver.info.kind === 'cpu') skip('the CPU device does not have every operation');
  return compare(operatorSamples());
}

export const rendererTests: GpuModule = {
  chapter: 'PTX against the interpreter',
  tests: [
    { name: 'every operation on every type', run: everyOperation },
    { name: 'random kernels', run: () => compare(randomSamples(150)) },
    { name: 'random programs', run: () => compare(programs(150)) },
  ],
};
