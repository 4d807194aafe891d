/**
 * The TypeScript face of element types: `f32`, `i64`, `c64` as types, and what follows from them.
 *
 * A kernel's parameters are annotated with these (`Vec<f32>`). They are ordinary numbers, bigints and booleans with an
 * optional phantom property, so that a plain `number` goes where an `f32` is wanted, while an array of f64 does not go where
 * one of f32 is wanted. Types only: nothing here exists at run time.
 */
import type { DTYPE, DType } from './dtype.ts';
import type { BigName, NamesOf, SCALARS, ScalarName, StorageArrays, StorageOf } from './table.ts';
import type { TimeUnit } from './time-units.ts';

declare const kind: unique symbol;
/** A number in memory as the scalar type `D`. */
export type Num<D extends string> = number & { readonly [kind]?: D };
/** A bigint in memory as the scalar type `D`. */
export type Big<D extends string> = bigint & { readonly [kind]?: D };

/** A boolean in memory. */
export type Flag = boolean & { readonly [kind]?: 'bool' };

/** A complex number on the host. */
export interface Complex {
  /** The real part. */
  readonly re: number;
  /** The imaginary part. */
  readonly im: number;
}
/**
 * A complex number in a kernel: to the checker a number that has parts as well, so that `z * z + c` is what it is in mathematics. What operators give
 * is a plain number, which goes where a complex one is expected: for its parts it needs the annotation, `const w: c64 = z * z`.
 */
export type ComplexNum<D extends string> = number & Parts & { readonly [kind]?: D };

/** Parts of what numbers are assigned to: as these have none they must be optional, and only `any` is read from an optional member as what is there. */
interface Parts {
  /** The real part. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  re?: any;
  /** The imaginary part. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  im?: any;
}

/** The scalar types that there are vectors of. */
export type LaneName = Exclude<ScalarName, 'bool' | 'u8c' | 'f8e4m3' | 'f8e5m2'>;

/** A date: to the editor a bigint, the count of its unit, so that operators work on it; a `Date` on the host where that can hold it. */
export type datetime64<U extends TimeUnit = TimeUnit> = Big<`datetime64[${U}]`>;
/** A duration: a bigint, the count of its unit. */
export type timedelta64<U extends TimeUnit = TimeUnit> = Big<`timedelta64[${U}]`>;

/** The dates that a `Date` on the host can hold. */
type OfDate = `datetime64[${Exclude<TimeUnit, 'us' | 'ns'>}]`;

/** The names of the vector types. */
export type VectorName = `${LaneName}x${2 | 3 | 4}`;

/** The numbers of a vector on the host. */
export interface VectorParts {
  readonly x: number | bigint;
  readonly y: number | bigint;
  readonly z?: number | bigint;
  readonly w?: number | bigint;
}

/**
 * A vector: to the checker a number that has lanes as well, so that operators work on it. What they give is a plain number, which goes where a
 * vector is wanted: for its lanes it needs the annotation, `const v: f32x4 = a[i] * 2`. A number has no lanes, so they must be optional, and
 * only `any` is read from an optional member as what is there.
 */
export type Vector<D extends string> = (D extends `${'i' | 'u'}64x${number}` ? bigint : number) & {
  readonly [kind]?: D;
} & { [L in LaneOf<D>]?: Lane };

// biome-ignore lint/suspicious/noExplicitAny: see above
type Lane = any;
type LaneOf<D> = D extends `${string}x2`
  ? 'x' | 'y'
  : D extends `${string}x3`
    ? 'x' | 'y' | 'z'
    : 'x' | 'y' | 'z' | 'w';

/** What one array element can be on the host: a number, a bigint, a boolean, a string, a complex number, a `Date` or a struct's plain object. */
export type Scalar = number | bigint | boolean | string | Complex | object;

/** The type without its phantom: what the host reads and writes, and kernels but for complex numbers. */
export type Plain<T> = T extends bigint
  ? IsDate<T> extends true
    ? Date
    : Whole<T, bigint>
  : T extends boolean
    ? boolean
    : T extends number
      ? IsComplex<T> extends true
        ? Complex
        : Whole<T, number>
      : T extends Complex
        ? Complex
        : T extends { readonly [DTYPE]: string }
          ? ElementIn<T>
          : T;

/** Whether this is `c64` or `c128`. */
export type IsComplex<T> = [NameOf<T>] extends [never] ? false : [NameOf<T>] extends ['c64' | 'c128'] ? true : false;

/** Whether this is a date that is a `Date` on the host. */
type IsDate<T> = [NameOf<T>] extends [never] ? false : [NameOf<T>] extends [OfDate] ? true : false;

/** As `Plain`, in a kernel: there complex numbers are numbers, those in structs too. */
export type InKernel<T> =
  IsComplex<T> extends true
    ? number & Parts
    : IsDate<T> extends true
      ? bigint
      : Plain<T> extends infer P
        ? P extends object
          ? [Extract<MemberOf<P>, Complex | Date>] extends [never]
            ? P
            : { [K in keyof P]: MemberInKernel<P[K]> }
          : P
        : never;

/** A member of a struct in a kernel. */
type MemberInKernel<M> = Complex extends M ? number & Parts : Date extends M ? bigint : M;

/** What the members of a struct are; a vector is none. */
type MemberOf<P> = P extends number | bigint ? never : P[keyof P];

/** A vector keeps its lanes. */
type Whole<T, P> = [NameOf<T>] extends [never] ? P : NameOf<T> extends infer N extends VectorName ? Vector<N> : P;

/** Of a dtype its elements (`Vec<typeof Particle>`), of an element itself. */
export type ElementIn<T> = T extends DType<infer U> ? Plain<U> : T;

/** The fields of a struct; any string where the type is not known. */
export type FieldOf<T> = [T] extends [object] ? string & keyof T : string;

/** What a field of a struct is made of: of a sub-array its elements. */
export type FieldElement<T, K> = K extends keyof T ? Innermost<T[K]> : Scalar;

type Innermost<T> = T extends readonly (infer U)[] ? Innermost<U> : T;

/** The name in the phantom of `T`, such as `'f32'`; `never` for a plain number or a struct. */
export type NameOf<T> = [T] extends [{ readonly [kind]?: infer D }] ? Extract<NonNullable<D>, string> : never;

/** The data a host array of `T` is kept in: bits for narrow floats and bool, pairs for complex, bytes for structs. */
export type DataByName = { readonly [K in ScalarName]: StorageOf<K> } & {
  readonly c64: Float32Array;
  readonly c128: Float64Array;
};

/** Any TypedArray that host arrays are kept in. */
export type TypedArray = StorageArrays[keyof StorageArrays];

/** The TypedArray behind a host array of `T`. */
export type DataOf<T> = [NameOf<T>] extends [never]
  ? TypedArray
  : NameOf<T> extends keyof DataByName
    ? DataByName[NameOf<T>]
    : TypedArray;

/** The element type of a TypedArray: `f32` of Float32Array. Float16Array comes in as any other object would. */
export type ElementOf<A> = A extends Float32Array
  ? Num<'f32'>
  : A extends Float64Array
    ? Num<'f64'>
    : A extends Int32Array
      ? Num<'i32'>
      : A extends Uint32Array
        ? Num<'u32'>
        : A extends Uint8ClampedArray
          ? Num<'u8c'>
          : A extends Uint8Array
            ? Num<'u8'>
            : A extends Int8Array
              ? Num<'i8'>
              : A extends Int16Array
                ? Num<'i16'>
                : A extends Uint16Array
                  ? Num<'u16'>
                  : A extends BigInt64Array
                    ? Big<'i64'>
                    : A extends BigUint64Array
                      ? Big<'u64'>
                      : Scalar;

/** The strings that name each element type. */
export type ElementByString = {
  readonly [K in ScalarName as NamesOf<K>]: K extends 'bool' ? Flag : K extends BigName ? Big<K> : Num<K>;
} & {
  readonly [K in 'i8' | 'u8']: never;
} & {
  readonly [K in 'c64' | 'complex64' | '<c8' | '=c8' | 'c8']: ComplexNum<'c64'>;
} & {
  readonly [K in 'c128' | 'complex128' | '<c16' | '=c16' | 'c16']: ComplexNum<'c128'>;
} & {
  readonly [K in VectorName as K | LongName<K>]: Vector<K>;
};

/** Numba's name of a vector, `'float32x4'`. */
type LongName<K> = K extends `${infer L extends LaneName}x${infer N}`
  ? `${(typeof SCALARS)[L]['names'][0]}x${N}`
  : never;

/** The strings that name a dtype: `'float32'`, `'f32'`, `'<f4'`. What a program reads from elsewhere is cast: `header.descr as DTypeName`. */
export type DTypeName =
  | Exclude<keyof ElementByString, 'i8' | 'u8'>
  | TextName
  | DateName<'datetime64' | 'M8'>
  | DateName<'timedelta64' | 'm8'>;

type TextName = `${'' | '|'}S${bigint}` | `${'' | '<'}U${bigint}`;
type DateName<K extends string> = `${K extends `${string}8` ? '' | '<' : ''}${K}[${TimeUnit}]`;

/** What may be given wherever a dtype is expected: a token or dtype, or its name. */
export type DTypeLike<T = unknown> = DType<T> | DTypeName;

/** The element type that a `DTypeLike` stands for. */
export type ValueOf<D> =
  D extends DType<infer T> ? T : D extends keyof ElementByString ? ElementByString[D] : NamedElement<D>;

/** The element that one of endlessly many names stands for: `'U8'`, `'datetime64[ns]'`. */
type NamedElement<D> = D extends `${'' | '|'}S${bigint}` | `${'' | '<'}U${bigint}`
  ? string
  : D extends `datetime64[${infer U extends TimeUnit}]` | `${'' | '<'}M8[${infer U extends TimeUnit}]`
    ? datetime64<U>
    : D extends `timedelta64[${infer U extends TimeUnit}]` | `${'' | '<'}m8[${infer U extends TimeUnit}]`
      ? timedelta64<U>
      : Scalar;
