/**
 * Strings of fixed length as elements: NumPy's bytes strings `'S8'` and its text `'U8'`, Numba's `CharSeq` and `UnicodeCharSeq`.
 *
 * In memory they are what NumPy has there: a byte a character, or four bytes a code point, with zeros behind a string that is shorter.
 * A string therefore cannot end in a zero, and one that is too long is an error, not cut off.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { DTYPE, type DType, printable } from './dtype.ts';
import { i32, u8 } from './scalars.ts';
import { type SubArrayDType, subArray } from './subarray.ts';

/** A dtype of strings of at most `length` characters. */
export interface TextDType extends DType<string> {
  /** NumPy's letter: `'S'` for characters of 8 bits, `'U'` for code points. */
  readonly kind: 'S' | 'U';
  /** How many characters there is room for: bytes of `'S'`, code points of `'U'`. */
  readonly length: number;
  /** What memory holds for each character. */
  readonly unit: DType<number>;
  /** A fixed sub-array for the field of a struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<string, S>;
}

/** What fits a 32-bit offset, as the members of structs have. */
const MOST_BYTES = 2 ** 31 - 1;

const TEXTS = new Map<string, TextDType>();

/** One object a type: the dtype of a name such as `'S8'`. */
function textDType(kind: 'S' | 'U', length: number): TextDType {
  const maker = kind === 'S' ? 'charSeq' : 'unicodeCharSeq';
  const unit = kind === 'S' ? u8 : i32;
  if (!Number.isInteger(length) || length < 1 || length * unit.itemSize > MOST_BYTES) {
    throw new TsambaRangeError(
      'E_DTYPE',
      `${maker} takes the number of characters, from 1 to ${Math.floor(MOST_BYTES / unit.itemSize)}, got ${show(length)}`,
    );
  }
  const name = `${kind}${length}`;
  const known = TEXTS.get(name);
  if (known !== undefined) return known;
  const dtype: TextDType = {
    [DTYPE]: name,
    name,
    kind,
    itemSize: length * unit.itemSize,
    alignment: unit.itemSize,
    typestr: `${kind === 'S' ? '|' : '<'}${name}`,
    length,
    unit,
    array: (...shape) => subArray(dtype, shape),
  };
  TEXTS.set(name, Object.freeze(printable(dtype)));
  return dtype;
}

/**
 * Strings of at most `length` characters of 8 bits, U+0000 to U+00FF: `charSeq(8)`, or the string `'S8'`. Throws RangeError for no such length.
 * NumPy: `np.dtype('S8')`. Numba: `types.CharSeq(8)`.
 */
export function charSeq(length: number): TextDType {
  return textDType('S', length);
}

/**
 * Strings of at most `length` code points: `unicodeCharSeq(8)`, or the string `'U8'`. Throws RangeError for no such length.
 * NumPy: `np.dtype('U8')`. Numba: `types.UnicodeCharSeq(8)`.
 */
export function unicodeCharSeq(length: number): TextDType {
  return textDType('U', length);
}

/** Whether the elements of a dtype are strings. */
export function isTextDType(dtype: DType): dtype is TextDType {
  return TEXTS.get(dtype.name) === dtype;
}

/** The dtype that `'S8'`, `'|S8'`, `'<U8'`, `'U8'` or Numba's `'[unichr x 8]'` and `'[char x 8]'` names; undefined for others. */
export function parseText(text: string): TextDType | undefined {
  const numpy = /^(?:\|?(S)|[<=]?(U))([1-9]\d*)$/.exec(text);
  if (numpy !== null) return textDType((numpy[1] ?? numpy[2]) as 'S' | 'U', Number(numpy[3]));
  const numba = /^\[(unichr|char) x ([1-9]\d*)\]$/.exec(text);
  return numba === null ? undefined : textDType(numba[1] === 'char' ? 'S' : 'U', Number(numba[2]));
}

/** The code points of a string as memory has them, without the zeros behind. Throws for what the dtype cannot hold; `say` makes the message of what is wrong. */
export function unitsOf(text: string, dtype: TextDType, say: (wrong: string) => Error): readonly number[] {
  const units = Array.from(text, (c) => c.codePointAt(0) ?? 0);
  if (units.length > dtype.length)
    throw say(`${show(text)} has ${units.length} characters, ${dtype.name} has room for ${dtype.length}`);
  if (units.at(-1) === 0) throw say(`${show(text)} ends in NUL, which ${dtype.name} uses to pad strings`);
  const alone = units.find((unit) => unit >= 0xd800 && unit <= 0xdfff);
  if (alone !== undefined) throw say(`${show(text)} is not well-formed text: half of a surrogate pair is missing`);
  const wide = dtype.kind === 'S' ? units.find((unit) => unit > 0xff) : undefined;
  if (wide !== undefined) {
    throw say(
      `${show(text)} has ${JSON.stringify(String.fromCodePoint(wide))}, and ${dtype.name} holds characters of 8 bits: take U${dtype.length}`,
    );
  }
  return units;
}

/** The string that an element is. */
export function readText(view: DataView, offset: number, dtype: TextDType): string {
  const units = Array.from({ length: dtype.length }, (_, k) =>
    dtype.kind === 'S' ? view.getUint8(offset + k) : view.getUint32(offset + 4 * k, true),
  );
  let end = units.length;
  while (end > 0 && units[end - 1] === 0) end--;
  // What is no code point, in memory of other programs or never written, shows as the character for that.
  return units
    .slice(0, end)
    .map((unit) => String.fromCodePoint(unit > 0x10ffff ? 0xfffd : unit))
    .join('');
}

/** Writes a string, and zeros behind it. Throws TypeError for anything that is not a string, RangeError for one that does not fit. */
export function writeText(view: DataView, offset: number, dtype: TextDType, value: unknown): void {
  if (typeof value !== 'string') {
    throw new TsambaTypeError('E_CONVERT', `an element of ${dtype.name} must be a string, got ${show(value)}`);
  }
  const units = unitsOf(value, dtype, (wrong) => new TsambaRangeError('E_CONVERT', wrong));
  for (let k = 0; k < dtype.length; k++) {
    if (dtype.kind === 'S') view.setUint8(offset + k, units[k] ?? 0);
    else view.setUint32(offset + 4 * k, units[k] ?? 0, true);
  }
}
