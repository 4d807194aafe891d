/**
 * From what users write to a dtype: tokens, and strings in the spellings of Tsamba, NumPy and the array protocol.
 *
 * A bare `'i8'` or `'u8'` is refused: it is one byte here and eight in NumPy, and either guess would be silent and wrong.
 */
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { c64, c128 } from './complex.ts';
import { type DType, describeDType, isDType } from './dtype.ts';
import { SCALAR_TOKENS } from './scalars.ts';
import { nearest } from './spelling.ts';
import { rowOf, SCALAR_NAMES } from './table.ts';
import { parseText } from './text.ts';
import { parseTime } from './time.ts';
import type { DTypeLike, ValueOf } from './types.ts';
import { longNameOf, vectorTokens } from './vector.ts';

const BY_NAME: ReadonlyMap<string, DType> = makeNames();

function makeNames(): Map<string, DType> {
  const names = new Map<string, DType>();
  const add = (dtype: DType, more: readonly string[]): void => {
    for (const name of [dtype.name, ...more]) names.set(name, dtype);
  };
  for (const name of SCALAR_NAMES) {
    const { names: more, typestr, bytes, stored } = rowOf(name);
    // In memory u8c is uint8, and that name is u8's.
    const protocol = stored === undefined ? spellings(typestr, bytes) : [];
    add(SCALAR_TOKENS[name], [...more, ...protocol]);
  }
  add(c64, ['complex64', ...spellings(c64.typestr, 8)]);
  add(c128, ['complex128', ...spellings(c128.typestr, 16)]);
  for (const vector of vectorTokens()) add(vector, [longNameOf(vector)]);
  // What is one byte in the one reading and eight in the other.
  names.delete('i8');
  names.delete('u8');
  return names;
}

/**
 * NumPy counts bytes: 'i4', '<i4', '=i4'. One-byte types have no order, and accept any mark but big-endian. Types that NumPy does not know
 * are opaque bytes to it, which only the order tells from others: '<V2', but '|V2'.
 */
function spellings(typestr: string, bytes: number): readonly string[] {
  if (typestr.charAt(1) === 'V') return [typestr];
  return (bytes === 1 ? ['|', '<', '=', ''] : ['<', '=', '']).map((order) => order + typestr.slice(1));
}

/**
 * The dtype that a token or a string (`'float32'`, `'f32'`, `'<f4'`, `'|b1'`) stands for. Throws TypeError for unknown names,
 * for the ambiguous `'i8'` and `'u8'`, for big-endian types, and for sub-arrays, which exist only inside structs.
 */
export function asDType<D extends DTypeLike | string>(like: D): DType<ValueOf<D>> {
  const dtype = asFieldDType(like, 'dtype');
  if (dtype.base !== undefined) {
    throw new TsambaTypeError(
      'E_DTYPE',
      `${describeDType(dtype)} is a sub-array, which only a struct field can be; ` +
        `give the dtype ${describeDType(dtype.base)} and put [${String(dtype.subShape)}] at the end of the shape`,
    );
  }
  return dtype as DType<ValueOf<D>>;
}

/** As `asDType`, but sub-arrays are allowed. `what` names the argument in messages. */
export function asFieldDType(like: unknown, what: string): DType {
  if (isDType(like)) return like;
  if (typeof like !== 'string') {
    throw new TsambaTypeError('E_DTYPE', `${what} must be a dtype such as f32 or 'float32', got ${shown(like)}`);
  }
  const text = like.trim();
  const found = BY_NAME.get(text) ?? parseText(text) ?? parseTime(text);
  if (found !== undefined) return found;
  throw new TsambaTypeError('E_DTYPE', `${what}: ${explain(text)}`);
}

/** Names that other languages read differently. */
const LOOSE_NAMES: Readonly<Record<string, string>> = {
  float: "'float64', as Python has it, or 'float32', as C has it",
  int: "'int64', as Python has it, or 'int32', as C has it",
  number: "'float64', which is what JavaScript's numbers are, or 'float32'",
  double: "'float64'",
  single: "'float32'",
  half: "'float16'",
};

/** What was given instead of a dtype; of a TypedArray's class, which NumPy's users may expect to do, the dtype as well. */
function shown(value: unknown): string {
  if (typeof value === 'function') {
    const element: unknown = 'BYTES_PER_ELEMENT' in value ? value.prototype : undefined;
    const tag = element === undefined ? undefined : /^(Big)?(Float|Int|Uint)(\d+)(Clamped)?Array$/.exec(value.name);
    if (tag === null || tag === undefined) return `the function ${value.name || '(anonymous)'}`;
    return `the class ${value.name}: write ${(tag[2] ?? '').charAt(0).toLowerCase()}${tag[3] ?? ''}${tag[4] === undefined ? '' : 'c'}`;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.hasOwn(value, 'dtype')
      ? 'an object with a dtype in it: the dtype itself comes before the options'
      : 'an object';
  }
  return show(value);
}

function explain(text: string): string {
  if (text === 'i8' || text === 'u8') {
    const [one, eight] = text === 'i8' ? ['int8', 'int64'] : ['uint8', 'uint64'];
    return (
      `'${text}' is ambiguous: ${one} here, ${eight} in NumPy. ` +
      `Write '${one}' or the token ${text} for one byte, '${eight}' or '<${text}' for eight`
    );
  }
  if (text.startsWith('>') || text.startsWith('!')) {
    return `'${text}' is big-endian, which devices cannot read; convert the data and write '<${text.slice(1)}'`;
  }
  if (/^[|<=]?O\d*$/.test(text) || text.startsWith('object'))
    return `'${text}' (Python objects) has no counterpart on devices; use numbers, strings of a fixed length or structs`;
  if (/^[|<=]?[SUa]0?$/.test(text) || /^(str|bytes)/.test(text))
    return `'${text}' does not say how long the strings are: write 'S8' for 8 bytes, 'U8' for 8 code points`;
  const meant = Object.hasOwn(LOOSE_NAMES, text) ? LOOSE_NAMES[text] : undefined;
  if (meant !== undefined) return `'${text}' does not say how many bits: write ${meant}`;
  const near = nearest(text, BY_NAME.keys());
  const floats = SCALAR_NAMES.filter((name) => rowOf(name).kind === 'f').map((name) => rowOf(name).names[0]);
  const known = `bool, int8 … uint64, ${floats.join(', ')}, complex64, complex128`;
  return `unknown dtype ${show(text)}${near === undefined ? '' : `; did you mean '${near}'?`} (known: ${known})`;
}
