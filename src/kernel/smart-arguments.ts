/**
 * Smart arrays as kernel arguments: their device sides stand in for them, and what the kernel wrote is marked as changed.
 */
import { SmartArray } from '../array/smart-array.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';

/** The arguments of a launch with its smart arrays replaced. */
export interface SmartArguments {
  readonly plain: readonly unknown[];
  readonly found: readonly { readonly array: SmartArray<unknown>; readonly path: string }[];
}

/** Uploads what is behind; undefined when there is no smart array among the arguments, or in tuples of them. */
export function smartArguments(args: readonly unknown[], context: Context): SmartArguments | undefined {
  const found: { readonly array: SmartArray<unknown>; readonly path: string }[] = [];
  const plain = replace(args, '', context, found);
  return found.length === 0 ? undefined : { plain, found };
}

function replace(
  args: readonly unknown[],
  prefix: string,
  context: Context,
  found: { readonly array: SmartArray<unknown>; readonly path: string }[],
): readonly unknown[] {
  return args.map((arg, i) => {
    const path = `${prefix}${i}`;
    if (arg instanceof SmartArray) {
      found.push({ array: arg, path });
      return arg.forKernel(context);
    }
    return Array.isArray(arg) ? replace(arg, `${path},`, context, found) : arg;
  });
}

/** Marks the device sides that a launch on a stream writes. `written`: paths of the array arguments that the kernel stores to. */
export function markWritten({ found }: SmartArguments, written: ReadonlySet<string>, stream: Stream | undefined): void {
  for (const { array, path } of found) if (written.has(path)) array.changedOnDevice(stream);
}
