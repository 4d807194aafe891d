/**
 * Smart arrays as kernel arguments: their device sides stand in for them, and what the kernel wrote is marked as changed.
 */
import { isOnDevice } from '../array/device-create.ts';
import { asHostArray } from '../array/ndarray-create.ts';
import type { SmartArray } from '../array/smart-array.ts';
import { isSmart } from '../array/smart-brand.ts';
import { NDARRAY } from '../compiler/contract.ts';
import { TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import { directionOf } from './hints.ts';
import { objectParts } from './object-arguments.ts';

/** A smart array among the arguments, and where it stands: `'1'`, or `'1,0'` in a tuple. */
interface Found {
  readonly array: SmartArray<unknown>;
  readonly path: string;
}

/** The arguments of a launch with its smart arrays replaced. */
export interface SmartArguments {
  readonly plain: readonly unknown[];
  readonly found: readonly Found[];
}

/** Tuples in tuples. */
const DEEPEST = 64;

/** Paths of arguments: the same strings each time, whose hashes are known. */
const PATHS: readonly string[] = Array.from({ length: 64 }, (_, i) => String(i));

/** Whether there is a smart array among the arguments, or in tuples of them. */
export function hasSmart(args: readonly unknown[], depth = 0): boolean {
  if (depth > DEEPEST) return false;
  return args.some((arg) => isSmart(arg) || (Array.isArray(arg) && hasSmart(arg, depth + 1)));
}

/** Uploads what is behind; undefined when there is no smart array among the arguments, or in tuples of them. */
export function smartArguments(args: readonly unknown[], context: Context): SmartArguments | undefined {
  const found: Found[] = [];
  const plain = replace(args, '', context, found, 0);
  return found.length === 0 ? undefined : { plain, found };
}

/** Called for each launch with smart arrays: makes as little as it can. */
function replace(
  args: readonly unknown[],
  prefix: string,
  context: Context,
  found: Found[],
  depth: number,
): readonly unknown[] {
  if (depth > DEEPEST) {
    throw new TsambaTypeError(
      'E_ARGUMENT_TYPE',
      `an argument is an array nested more than ${DEEPEST} deep, or one that contains itself: pass a typed array or ndarray(…)`,
    );
  }
  let plain: unknown[] | undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    let other: unknown;
    if (isSmart(arg)) {
      found.push({ array: arg, path: pathOf(prefix, i) });
      other = arg.forKernel(context);
    } else if (Array.isArray(arg)) {
      other = replace(arg, `${pathOf(prefix, i)},`, context, found, depth + 1);
    } else if (typeof arg === 'object' && arg !== null && mayHoldArrays(arg)) {
      const names = Object.keys(arg);
      const values = names.map((name) => (arg as Readonly<Record<string, unknown>>)[name]);
      const replaced = replace(values, `${pathOf(prefix, i)},`, context, found, depth + 1);
      if (replaced === values) continue;
      other = Object.assign(
        Object.create(Object.getPrototypeOf(arg)),
        Object.fromEntries(names.map((name, k) => [name, replaced[k]])),
      );
    } else continue;
    plain ??= args.slice();
    plain[i] = other;
  }
  return plain ?? args;
}

/** Whether an object is one whose fields are arguments, and no array. */
function mayHoldArrays(arg: object): boolean {
  if (ArrayBuffer.isView(arg) || NDARRAY in arg || isOnDevice(arg) || directionOf(arg) !== undefined) return false;
  return objectParts(arg) !== undefined && asHostArray(arg) === undefined;
}

function pathOf(prefix: string, i: number): string {
  return prefix === '' ? (PATHS[i] ?? String(i)) : `${prefix}${i}`;
}

/** Marks the device sides that a launch on a stream writes. `written`: paths of the array arguments that the kernel stores to. */
export function markWritten(
  { found }: SmartArguments,
  written: ReadonlySet<string>,
  stream: Stream | undefined,
  later = false,
): void {
  for (const { array, path } of found) if (written.has(path)) array.changedOnDevice(stream, later);
}

/** Brings the host sides up to date that somebody has in hand, without blocking. */
export async function refreshHosts({ found }: SmartArguments): Promise<void> {
  await Promise.all(found.map(({ array }) => array.refreshReferenced()));
}

/** As `markWritten`, for arguments that are not tuples. */
export function markAll(args: readonly unknown[], written: ReadonlySet<string>, stream: Stream | undefined): void {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (isSmart(arg) && written.has(pathOf('', i))) arg.changedOnDevice(stream);
  }
}
