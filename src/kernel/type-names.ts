/**
 * What types are called in signatures: Tsamba's names, Numba's, NumPy's and C's, and those that there is no argument of, each with its reason.
 */
import {
  c64,
  c128,
  type DType,
  longNameOf,
  parseText,
  parseTime,
  rowOf,
  SCALAR_NAMES,
  SCALAR_TOKENS,
  vectorTokens,
} from '../dtype/index.ts';

/** Numba's and C's names that no dtype has, and what they are. */
// biome-ignore format: a table
const ALIASES: Readonly<Record<string, string>> = {
  boolean: 'bool', byte: 'u8', char: 'i8', uchar: 'u8', short: 'i16', ushort: 'u16', intc: 'i32', uintc: 'u32',
  longlong: 'i64', ulonglong: 'u64', int_: 'i64', intp: 'i64', uintp: 'u64', ssize_t: 'i64', size_t: 'u64', ptrdiff_t: 'i64',
  float_: 'f32', float: 'f32', double: 'f64', half: 'f16', int: 'i32', unsigned: 'u32', signed: 'i32',
  int8_t: 'i8', uint8_t: 'u8', int16_t: 'i16', uint16_t: 'u16', int32_t: 'i32', uint32_t: 'u32', int64_t: 'i64', uint64_t: 'u64',
  'unsigned char': 'u8', 'signed char': 'i8', 'unsigned short': 'u16', 'short int': 'i16', 'unsigned short int': 'u16', 'signed short': 'i16',
  'unsigned int': 'u32', 'signed int': 'i32', 'long long': 'i64', 'signed long long': 'i64', 'unsigned long long': 'u64',
  'long long int': 'i64', 'unsigned long long int': 'u64',
  complex64: 'c64', complex128: 'c128',
};

const LONG = 'it has 32 bits on Windows and 64 elsewhere: write int32 or int64';
const LIVES = 'it only exists in Python: pass its numbers in an array, or as arguments of their own';

/** Names of Numba's, NumPy's and C's for which no argument stands, and what to write instead. */
// biome-ignore format: a table
const REFUSED: Readonly<Record<string, string>> = {
  long: LONG, ulong: LONG, long_: LONG, 'unsigned long': LONG, 'long int': LONG, 'unsigned long int': LONG, 'long double': 'no device has it: write double',
  uint: "it is 64 bits to Numba and 32 to OpenCL C: write uint32 or uint64",
  complex: 'it does not say how many bits: write complex64 or complex128',
  pyobject: LIVES, deferred_type: LIVES, List: LIVES, ListType: LIVES, Set: LIVES, DictType: LIVES, Dict: LIVES, bytes: LIVES,
  unicode_type: 'a string is part of what the kernel is compiled for, by its text: leave the signature out; arrays of strings are U8[:]',
  string: 'a string is part of what the kernel is compiled for, by its text: leave the signature out; arrays of strings are U8[:]',
  Function: 'a function is compiled into the kernel: leave the signature out', FunctionType: 'a function is compiled into the kernel: leave the signature out',
  Optional: 'whether an argument is there is part of what the kernel is compiled for: leave the signature out, or give one for each',
  Omitted: 'an argument that is left out has no type: give a signature without it',
  EnumMember: 'an enum member is the number that it stands for: write int32 or float64',
  IntEnumMember: 'an enum member is the number that it stands for: write int32',
  voidptr: 'a kernel takes arrays: write uint8[:]', CPointer: 'a kernel takes arrays: write float32[:]',
  NamedTuple: 'an object is typed by its fields: pass one without a signature, or write Tuple(…)',
  NamedUniTuple: 'an object is typed by its fields: pass one without a signature, or write UniTuple(…)',
  Record: 'name the struct: { signature: \'void(Point[:])\', types: { Point } }, or types.array(Point)',
  DType: 'a dtype cannot be an argument: capture it', range_state_type: 'a range cannot be an argument: pass its bounds',
  float128: 'no device has it: write double', longdouble: 'no device has it: write double', int128: 'no device has it',
};

/** CUDA's names of vectors, as in `float4`, by their lanes. */
const LANES: Readonly<Record<string, string>> = {
  char: 'i8',
  uchar: 'u8',
  short: 'i16',
  ushort: 'u16',
  int: 'i32',
  uint: 'u32',
  longlong: 'i64',
  ulonglong: 'u64',
  half: 'f16',
  float: 'f32',
  double: 'f64',
};

const NAMES: ReadonlyMap<string, DType> = new Map([
  ...SCALAR_NAMES.flatMap((name): [string, DType][] =>
    [name, ...rowOf(name).names].map((spelled) => [spelled, SCALAR_TOKENS[name]]),
  ),
  ...[c64, c128].flatMap((dtype): [string, DType][] => [
    [dtype.name, dtype],
    [dtype === c64 ? 'c8' : 'c16', dtype],
  ]),
  ...[...vectorTokens()].flatMap((dtype): [string, DType][] => [
    [dtype.name, dtype],
    [longNameOf(dtype), dtype],
  ]),
  ...Object.entries(ALIASES).map(([name, of]): [string, DType] => [
    name,
    of === 'c64' ? c64 : of === 'c128' ? c128 : ((SCALAR_TOKENS as Record<string, DType>)[of] as DType),
  ]),
]);

/** The words that C puts together to one name. */
export const C_WORDS: ReadonlySet<string> = new Set([
  'unsigned',
  'signed',
  'char',
  'short',
  'int',
  'long',
  'double',
  'float',
]);

/** The dtype of a name; undefined for one that stands for no argument or is not known. */
export function namedType(name: string): DType | undefined {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const cuda = /^([a-z]+)([234])$/.exec(name);
  const lane = cuda === null ? undefined : LANES[cuda[1] ?? ''];
  if (lane !== undefined) return NAMES.get(`${lane}x${cuda?.[2]}`);
  return parseText(name) ?? parseTime(name);
}

function isRefused(name: string): boolean {
  return Object.hasOwn(REFUSED, name);
}

/** Why a name of another language stands for no argument; undefined for others. */
export function refusal(name: string): string | undefined {
  if (name === 'i8' || name === 'u8') {
    const [narrow, wide] = name === 'i8' ? ['int8', 'int64'] : ['uint8', 'uint64'];
    return `it is ${narrow} in Tsamba and ${wide} in NumPy: write '${narrow}' or '${wide}'`;
  }
  return isRefused(name) ? REFUSED[name] : undefined;
}

/** All names, for the nearest to one that was mistyped. */
export function typeNames(): readonly string[] {
  return [
    ...NAMES.keys(),
    'void',
    'Array',
    'Tuple',
    'UniTuple',
    'NPDatetime',
    'NPTimedelta',
    'UnicodeCharSeq',
    'CharSeq',
  ];
}
