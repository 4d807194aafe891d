/**
 * The options of `jit`, and what the environment says about kernels.
 */
import { type Environment, switchFromEnvironment } from '../environment.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { isInstance, readKeys } from '../options.ts';
import { show } from '../show.ts';
import { parseSignatures, type Signature, type SignatureInput } from './signature.ts';

/** Options of `jit`. */
export interface JitOptions {
  /** `'void(f32[:], i32)'`, or several: what arguments the kernel takes. Compiled when `jit` is called. */
  readonly signature?: SignatureInput | undefined;
  /** Approximate functions and division, denormals flushed, a*b+c fused. Default false. */
  readonly fastMath?: boolean | undefined;
  /** Whether a*b+c may be computed as one fma, which rounds once. Default: as the device does. */
  readonly contract?: boolean | undefined;
  /** The type of numbers that nothing else decides. Default `'f64'`. */
  readonly defaultFloat?: 'f32' | 'f64' | { readonly name: string } | undefined;
  /** Checks indices at run time. Default: on for the CPU device and the simulator, off for GPUs; `TSAMBA_BOUNDS_CHECK=1` turns it on. */
  readonly boundsCheck?: boolean | undefined;
  /** Makes `throw` and `console.assert` in the kernel report. Default false. */
  readonly debug?: boolean | undefined;
  /** The most threads that a block of this kernel will have. */
  readonly launchBounds?: number | undefined;
  /** The most registers that a thread may use. */
  readonly maxRegisters?: number | undefined;
  /** The kernel's name in messages. Default: the function's. */
  readonly name?: string | undefined;
  /** The values of captured names, where they cannot be read from the closure (Bun, browsers). */
  readonly captures?: Readonly<Record<string, unknown>> | undefined;
}

/** Options that have been checked. */
export interface CheckedOptions {
  readonly signatures: readonly Signature[] | undefined;
  readonly fastMath: boolean;
  readonly contract: boolean | undefined;
  readonly defaultFloat: 'f32' | 'f64';
  readonly boundsCheck: boolean | undefined;
  readonly debug: boolean;
  readonly launchBounds: number | undefined;
  readonly maxRegisters: number | undefined;
  readonly name: string | undefined;
  readonly captures: Readonly<Record<string, unknown>> | undefined;
}

const KNOWN: readonly (keyof JitOptions)[] = [
  'signature',
  'fastMath',
  'contract',
  'defaultFloat',
  'boundsCheck',
  'debug',
  'launchBounds',
  'maxRegisters',
  'name',
  'captures',
];

/** Threads of a block, and registers of a thread, that any device has. */
const MOST_THREADS = 1024;
const MOST_REGISTERS = 255;

/** Checks what `jit` was given as options. */
export function checkOptions(options: unknown): CheckedOptions {
  if (typeof options === 'string' || Array.isArray(options)) {
    throw new TsambaTypeError(
      'E_JIT_OPTION',
      `jit takes its options as an object, got ${show(options)}: write jit(fn, { signature: ${show(options)} })`,
    );
  }
  if (typeof options !== 'object' || options === null) {
    throw new TsambaTypeError('E_JIT_OPTION', `jit takes its options as an object, got ${show(options)}`);
  }
  if (isInstance(options)) {
    throw new TsambaTypeError('E_JIT_OPTION', `jit takes its options as a plain object, got ${show(options)}`);
  }
  const given: { readonly [K in keyof JitOptions]: unknown } = readKeys('jit', options, KNOWN);
  return {
    signatures: given.signature === undefined ? undefined : parseSignatures(given.signature),
    fastMath: flag('fastMath', given.fastMath) ?? false,
    contract: flag('contract', given.contract),
    defaultFloat: floatName(given.defaultFloat),
    boundsCheck: flag('boundsCheck', given.boundsCheck),
    debug: flag('debug', given.debug) ?? false,
    launchBounds: count('launchBounds', given.launchBounds, MOST_THREADS),
    maxRegisters: count('maxRegisters', given.maxRegisters, MOST_REGISTERS),
    name: text('name', given.name),
    captures: captures(given.captures),
  };
}

function flag(name: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new TsambaTypeError('E_JIT_OPTION', `${name} must be true or false, got ${show(value)}`);
}

function count(name: string, value: unknown, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new TsambaTypeError('E_JIT_OPTION', `${name} must be a whole number, got ${show(value)}`);
  }
  if (value < 1) throw new TsambaRangeError('E_JIT_OPTION', `${name} must be at least 1, got ${value}`);
  if (value > most) throw new TsambaRangeError('E_JIT_OPTION', `${name} must be at most ${most}, got ${value}`);
  return value;
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TsambaTypeError('E_JIT_OPTION', `${name} must be a string, got ${show(value)}`);
}

function floatName(value: unknown): 'f32' | 'f64' {
  if (value === undefined) return 'f64';
  const name = typeof value === 'function' ? value.name : value;
  if (name === 'f32' || name === 'float32') return 'f32';
  if (name === 'f64' || name === 'float64') return 'f64';
  throw new TsambaTypeError('E_JIT_OPTION', `defaultFloat must be 'f32' or 'f64', got ${show(value)}`);
}

function captures(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TsambaTypeError('E_JIT_OPTION', `captures must be an object such as { cuda, gain }, got ${show(value)}`);
}

/** `TSAMBA_BOUNDS_CHECK=1` or `=0`; undefined when unset. */
export function boundsCheckByEnvironment(env?: Environment): boolean | undefined {
  return switchFromEnvironment('TSAMBA_BOUNDS_CHECK', env);
}

/** Whether host arrays that are copied implicitly should be warned of. Numba: `NUMBA_CUDA_WARN_ON_IMPLICIT_COPY`. */
export function warnsImplicitCopy(env?: Environment): boolean {
  return switchFromEnvironment(['TSAMBA_WARN_IMPLICIT_COPY', 'NUMBA_CUDA_WARN_ON_IMPLICIT_COPY'], env) ?? true;
}
