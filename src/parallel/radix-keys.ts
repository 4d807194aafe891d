/**
 * Keys of a radix sort: what makes of the bits of an element an unsigned integer that orders as the elements do, and back.
 *
 * The order is that of `TypedArray.prototype.sort`: -0 before 0, NaN last. All NaNs are one key, so that they keep the order they came in; what comes back is
 * one NaN. Descending reverses all numbers and leaves NaN last.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, SCALARS, type ScalarName, u8, u16, u32, u32 as u32Token, u64 } from '../dtype/index.ts';

/** Bits of an element, or of a key: a number up to 32 bits, beyond these a bigint. These functions are compiled for either. */
export type Bits = never;

/** How elements of one dtype are sorted by their bits. */
export interface RadixKeys {
  /** The unsigned integer that an element is seen as. */
  readonly raw: DType;
  /** What keys are in registers and shared memory: u32, or u64. */
  readonly word: DType;
  /** Passes of 8 bits. */
  readonly passes: number;
  readonly encode: (raw: Bits) => Bits;
  readonly decode: (key: Bits) => Bits;
  /** The bits from `shift` on: those of the digit are the lowest. */
  readonly digit: (key: Bits, shift: number) => number;
  /** The greatest key. */
  readonly last: Bits;
}

type Small = (bits: number) => number;
type Wide = (bits: bigint) => bigint;

interface Codes<F> {
  readonly encode: F;
  readonly decode: F;
}

const smallDigit = (key: number, shift: number): number => (key >>> shift) | 0;
// By halves: a shift of 64 bits by what is only known when it runs takes a GPU four times as long.
const wideDigit = /* @__PURE__ */ deviceFunction(
  ({ u32 }: { readonly u32: typeof u32Token }) =>
    (key: bigint, shift: number): number =>
      ((shift < 32 ? u32(key) : u32(key >> 32n)) >>> (shift & 31)) | 0,
  { u32: u32Token } as { readonly u32: typeof u32Token } & Record<string, unknown>,
);

/** What differs between the widths up to 32 bits: the sign, all bits, and the bits of infinity. */
interface Masks<B> {
  readonly sign: B;
  readonly all: B;
  readonly infinity: B;
}

const MADE = new Map<string, RadixKeys>();

/** How a dtype's elements are sorted by their bits; undefined where they are not numbers of up to 64 bits. */
export function radixKeysOf(dtype: DType, descending: boolean): RadixKeys | undefined {
  const row = Object.hasOwn(SCALARS, dtype.name) ? SCALARS[dtype.name as ScalarName] : undefined;
  if (row === undefined) return undefined;
  const name = `${dtype.name}${descending ? ' descending' : ''}`;
  let made = MADE.get(name);
  if (made === undefined) {
    made = make(row.kind, row.bytes, infinityOf(dtype.name as ScalarName), descending);
    MADE.set(name, made);
  }
  return made;
}

/** The bits of infinity: what is above them is NaN. */
function infinityOf(name: ScalarName): number | bigint {
  if (name === 'f64') return 0x7ff0000000000000n;
  if (name === 'f32') return 0x7f800000;
  if (name === 'f16') return 0x7c00;
  if (name === 'bf16') return 0x7f80;
  // f8e4m3 has no infinities, and one NaN.
  return name === 'f8e4m3' ? 0x7e : 0x7c;
}

function make(kind: string, bytes: number, infinity: number | bigint, descending: boolean): RadixKeys {
  const raw = bytes === 8 ? u64 : bytes === 4 ? u32 : bytes === 2 ? u16 : u8;
  const codes =
    bytes === 8
      ? wide(kind, { sign: 1n << 63n, all: (1n << 64n) - 1n, infinity: infinity as bigint }, descending)
      : small(
          kind,
          { sign: 2 ** (8 * bytes - 1), all: 2 ** (8 * bytes) - 1, infinity: infinity as number },
          descending,
        );
  return {
    raw: raw as unknown as DType,
    word: (bytes === 8 ? u64 : u32) as unknown as DType,
    passes: bytes,
    ...(codes as unknown as Codes<(bits: Bits) => Bits>),
    digit: (bytes === 8 ? wideDigit : smallDigit) as RadixKeys['digit'],
    last: (bytes === 8 ? (1n << 64n) - 1n : 2 ** (8 * bytes) - 1) as Bits,
  };
}

/** Of 8, 16 and 32 bits, in u32. */
function small(kind: string, masks: Masks<number>, descending: boolean): Codes<Small> {
  const flip = descending ? masks.all : 0;
  if (kind !== 'f') {
    const turn = (kind === 'i' ? masks.sign : 0) ^ flip;
    const turned = deviceFunction(
      ({ turn }) =>
        (bits: number) =>
          (bits ^ turn) >>> 0,
      { turn: turn >>> 0 },
    );
    return { encode: turned, decode: turned };
  }
  const captures = { ...masks, flip, positive: masks.sign - 1 };
  return {
    encode: deviceFunction(
      ({ sign, all, infinity, flip, positive }: typeof captures) =>
        (bits: number): number => {
          const key = (bits & sign) !== 0 ? bits ^ all ^ flip : bits ^ sign ^ flip;
          return (bits & positive) > infinity ? all : key >>> 0;
        },
      captures,
    ),
    decode: deviceFunction(
      ({ sign, all, flip }: typeof captures) =>
        (key: number): number => {
          const bits = key ^ flip;
          return ((bits & sign) !== 0 ? bits ^ sign : bits ^ all) >>> 0;
        },
      captures,
    ),
  };
}

/** Of 64 bits. */
function wide(kind: string, masks: Masks<bigint>, descending: boolean): Codes<Wide> {
  const flip = descending ? masks.all : 0n;
  if (kind !== 'f') {
    const turned = deviceFunction(
      ({ turn }) =>
        (bits: bigint) =>
          bits ^ turn,
      {
        turn: (kind === 'i' ? masks.sign : 0n) ^ flip,
      },
    );
    return { encode: turned, decode: turned };
  }
  const captures = { ...masks, flip, positive: masks.sign - 1n, none: 0n };
  return {
    encode: deviceFunction(
      ({ sign, all, infinity, flip, positive, none }: typeof captures) =>
        (bits: bigint): bigint => {
          const key = (bits & sign) !== none ? bits ^ all ^ flip : bits ^ sign ^ flip;
          return (bits & positive) > infinity ? all : key;
        },
      captures,
    ),
    decode: deviceFunction(
      ({ sign, all, flip, none }: typeof captures) =>
        (key: bigint): bigint => {
          const bits = key ^ flip;
          return (bits & sign) !== none ? bits ^ sign : bits ^ all;
        },
      captures,
    ),
  };
}
