/**
 * What an adapter does beyond what WGSL guarantees, and whether it does what WGSL guarantees: it is seen when the device is opened.
 */

import { HALF_FUNCTIONS, halvesEnabledBy } from '../../compiler/render/wgsl/halves.ts';
import type { Abilities, Halves } from '../../compiler/render/wgsl/module.ts';
import { narrowCodec, SCALARS } from '../../dtype/index.ts';
import { NotSupportedError } from '../../errors.ts';
import { given } from './answer.ts';
import type { GpuDevice } from './api.ts';
import { probe } from './probe.ts';

export interface Asked {
  readonly device: GpuDevice;
  readonly name: string;
  /** Whether it may end loops early. */
  readonly rounds: boolean;
  /** Whether its subgroups may be warps. */
  readonly warps: boolean;
  /** Whether it may be worthwhile to have it round to f16. */
  readonly halves: boolean;
}

/** Has the device show it. Rejects with NotSupportedError where the device must not be used. Who sleeps until it answers hears no promises but those of the device. */
export function examine({ device, name, rounds, warps, halves }: Asked): PromiseLike<Abilities> {
  return given(undefined)
    .then(() => (rounds ? refuseCut(device, name) : undefined))
    .then(() => (warps ? subgroupsAreWarps(device) : false))
    .then((are) => (halves ? halvesOf(device) : given(undefined)).then((by) => ({ warps: are, halves: by })));
}

// ---------------------------------------------------------------- rounds

const ROUNDS = 70_000;

/** Reads how many rounds it shall make, so that no compiler knows. */
const COUNT = `@compute @workgroup_size(1)
fn main() {
  var n = 0u;
  loop {
    if (n == words[0]) { break; }
    n += 1u;
  }
  words[1] = n;
}`;

/** llvmpipe, which Mesa brings for processors, let all loops of a thread make 65,535 rounds together before version 23 or so, left them then as if their conditions said so, and reported nothing. */
function refuseCut(device: GpuDevice, name: string): PromiseLike<void> {
  return probe(device, COUNT, Uint32Array.of(ROUNDS, 0)).then(([, made = 0]) => {
    if (made === ROUNDS) return;
    throw new NotSupportedError(
      'E_NO_DEVICE',
      `there is no WebGPU device that computes right: ${name} leaves the loops of a kernel after ${made.toLocaleString('en')} rounds, finished or not; ` +
        "cuda.selectDevice('cpu') runs on the same processor, a newer Mesa or SwiftShader is a software adapter without this fault",
    );
  });
}

// ----------------------------------------------------------------- warps

const THREADS = 256;
/** A block in one row, and one in whose warps all three numbers of a thread change. */
const SHAPES: readonly string[] = [`${THREADS}`, '4, 16, 4'];

const LANES = (shape: string): string => `enable subgroups;
@compute @workgroup_size(${shape})
fn main(
  @builtin(local_invocation_index) number: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
  let there = subgroupBallot(true).x;
  let across = subgroupShuffle(number, lane ^ 13u);
  let whole = size == 32u && there == 0xffffffffu;
  words[number] = u32(whole && lane == (number & 31u) && across == (number ^ 13u));
}`;

/** WGSL says neither how many threads a subgroup has nor which they are: whether they are 32 in the order of their numbers. */
function subgroupsAreWarps(device: GpuDevice): PromiseLike<boolean> {
  const asked = SHAPES.map((shape) => probe(device, LANES(shape), new Uint32Array(THREADS)));
  return asked.reduce<PromiseLike<boolean>>(
    (all, one) => all.then((so) => one.then((words) => so && words.every((word) => word === 1))),
    given(true),
  );
}

// ---------------------------------------------------------------- halves

const FORMAT = SCALARS.f16.narrow;
/** Halves of each exponent and both signs. */
const HALVES: Uint32Array = pairsOf(range(64), [0, 1, 341, 1023], (high, fraction) => (high << 10) | fraction);
/** f32 of both signs around halves and halfway between them, from what becomes 0 to what becomes infinite. */
const SINGLES: Uint32Array = pairsOf(
  [...range(44), ...range(44).map((k) => k + 256)],
  [0, 0x0fff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x555000, 0x7fffff],
  (high, fraction) => (((high + 101) << 23) | fraction) >>> 0,
);

function range(length: number): number[] {
  return Array.from({ length }, (_, k) => k);
}

function pairsOf(a: readonly number[], b: readonly number[], of: (a: number, b: number) => number): Uint32Array {
  return Uint32Array.from(a.flatMap((x) => b.map((y) => of(x, y))));
}

/** The place of a 0 that no compiler knows of. */
const ZERO: number = 2 * SINGLES.length + HALVES.length;

/** Rounds the first words to f16, to its bits and to f32 again, and widens the last ones. */
const CONVERT = (halves: Halves): string => `${halvesEnabledBy(halves)}
${Object.values(HALF_FUNCTIONS[halves]).join('\n')}
var<private> nothing: u32;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) number: u32) {
  nothing = words[${ZERO}u];
  for (var k = number; k < ${SINGLES.length}u; k += 64u) {
    let x = bitcast<f32>(words[k]);
    words[k] = half_bits(x);
    words[k + ${SINGLES.length}u] = bitcast<u32>(half_round(x));
  }
  for (var k = ${2 * SINGLES.length}u + number; k < ${ZERO}u; k += 64u) {
    words[k] = bitcast<u32>(half_value(words[k]));
  }
}`;

/** What rounds to f16 as it shall. */
function halvesOf(device: GpuDevice): PromiseLike<Halves | undefined> {
  const packed = (): PromiseLike<Halves | undefined> =>
    convertsBy(device, 'packed').then((does) => (does ? 'packed' : undefined));
  if (!device.features.has('shader-f16')) return packed();
  return convertsBy(device, 'f16').then((does) => (does ? 'f16' : packed()));
}

function convertsBy(device: GpuDevice, halves: Halves): PromiseLike<boolean> {
  const { decode, encode } = narrowCodec(FORMAT);
  const bits = Uint32Array.from(new Float32Array(SINGLES.buffer), encode);
  const values = (halves: Uint32Array): Uint32Array => new Uint32Array(Float32Array.from(halves, decode).buffer);
  const expected = Uint32Array.of(...bits, ...values(bits), ...values(HALVES), 0);
  return probe(device, CONVERT(halves), Uint32Array.of(...SINGLES, ...SINGLES, ...HALVES, 0)).then((found) =>
    found.every((word, k) => word === expected[k] || (isNaNOf(word) && isNaNOf(expected[k]))),
  );
}

/** NaNs may differ in their bits. */
function isNaNOf(word = 0): boolean {
  return (word & 0x7fffffff) > 0x7f800000;
}
