/**
 * The kernels of generators, each made when it is first wanted.
 */
import type { DType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import { type Bits, type Bounded, boundedOf } from './bounded.ts';
import {
  exponential32,
  exponential64,
  type Gather,
  gatherOf,
  normal32,
  normal64,
  type Permute,
  type Poisson,
  permuteOf,
  poissonOf,
  raw,
  uniform32,
  uniform64,
  unit32,
  unit64,
} from './distributions.ts';
import {
  type Advance,
  type Any,
  advanceHalves,
  advanceWords,
  type Fill,
  type FromHalf,
  type FromWord,
  fillByHalves,
  fillByWords,
} from './draws.ts';

/** The distributions that take one word a number, or half a word for f32. */
const MAPS: Readonly<Record<Mapped, readonly [words: FromWord, halves: FromHalf | undefined]>> = {
  raw: [raw, undefined],
  random: [unit64, unit32],
  uniform: [uniform64, uniform32],
  normal: [normal64, normal32],
  exponential: [exponential64, exponential32],
};

export type Mapped = 'raw' | 'random' | 'uniform' | 'normal' | 'exponential';

/** A token casts. */
type Cast = (value: bigint | number) => Any;

/** The kernels of one namespace. */
export class RandomKernels {
  readonly #jit: Jit;
  readonly #made = new Map<string, unknown>();

  constructor(jit: Jit) {
    this.#jit = jit;
  }

  fill(name: Mapped, halves: boolean): Fill {
    const [words, half] = MAPS[name];
    return this.#once(`${name} ${halves}`, (jit) =>
      halves && half !== undefined ? fillByHalves(jit, half, name) : fillByWords(jit, words, name),
    );
  }

  advance(halves: boolean): Advance {
    return this.#once(`advance ${halves}`, halves ? advanceHalves : advanceWords);
  }

  bounded(bits: Bits, dtype: DType): Bounded {
    return this.#once(`bounded ${bits} ${dtype.name}`, (jit) => boundedOf(jit, bits, castOf(dtype)));
  }

  poisson(dtype: DType): Poisson {
    return this.#once(`poisson ${dtype.name}`, (jit) => poissonOf(jit, castOf(dtype)));
  }

  permute(dtype: DType): Permute {
    return this.#once(`permute ${dtype.name}`, (jit) => permuteOf(jit, castOf(dtype)));
  }

  get gather(): Gather {
    return this.#once('gather', gatherOf);
  }

  #once<K>(key: string, make: (jit: Jit) => K): K {
    let made = this.#made.get(key) as K | undefined;
    if (made === undefined) {
      made = make(this.#jit);
      this.#made.set(key, made);
    }
    return made;
  }
}

function castOf(dtype: DType): Cast {
  return dtype as unknown as Cast;
}
