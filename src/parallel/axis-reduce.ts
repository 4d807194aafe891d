/**
 * Reductions along an axis: every line of an array into one element. Where lines lie beside each other neighbouring threads have neighbouring lines; where a line lies
 * together, lanes of a warp or a block share it. Few long lines are cut into parts.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, i32, spellDType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import { scalar } from '../kernel/scalar.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Workplace } from '../ufunc/operands.ts';
import type { Lines } from './axis.ts';
import { arrayInput, type Input, type Read } from './input.ts';
import { remember } from './memo.ts';
import { castTo, type Operator, type Value } from './operator.ts';
import { jitOn, onHost } from './place.ts';
import { initOf, withoutElements } from './reduce-values.ts';
import { reducing } from './reducing.ts';
import { reducingSegments } from './segmented.ts';

/** Threads that a device wants, and elements that one should have at least where lines are cut. */
const WANTED = { gpu: 1 << 17, host: 64 };
const LEAST = 64;
/** Elements of a part on GPUs where a line lies together: blocks go through it. */
const LEAST_OF_BLOCK = 1 << 14;
const BLOCKS_WANTED = 1 << 10;
const BLOCK = 128;

/** The launches that reduce each line of `input`, elements in C order, into `out`, which has one axis; `init` comes before the elements of each. */
export function reducingLines(
  place: Workplace,
  operator: Operator,
  input: Input,
  lines: Lines,
  out: DeviceNDArray,
  init: unknown,
): Step[] {
  const { outer, length, inner } = lines;
  if (out.size === 0) return [];
  if (length === 0) {
    out.set(withoutElements(place, operator, init) as never);
    return [];
  }
  if (out.size === 1) return reducing(place, operator, input, out, initOf(init, operator.type));
  const host = onHost(place.context);
  if (inner > 1 || host) return reducingColumns(place, operator, input, lines, out, init);
  const most = Math.floor(length / LEAST_OF_BLOCK);
  const parts = outer >= BLOCKS_WANTED / 4 ? 1 : Math.max(1, Math.min(most, Math.ceil(BLOCKS_WANTED / outer)));
  if (parts === 1) return reducingSegments(place, operator, input, partsOf(outer, length, 1), out, init);
  const made = place.temporary([outer * parts], operator.type);
  const steps = reducingSegments(place, operator, input, partsOf(outer, length, parts), made, undefined);
  return [...steps, ...reducingSegments(place, operator, arrayInput(made), partsOf(outer, parts, 1), out, init)];
}

/** Where each of `parts` parts of each line begins. */
function partsOf(outer: number, length: number, parts: number): Input {
  const argument = [length, parts, Math.ceil(length / parts)].map((n) => scalar(i32, n));
  const read = remember(['parts of lines'], () => readPart);
  return { length: outer * parts + 1, dtype: i32 as unknown as DType, argument, read, array: undefined, arrays: [] };
}

const readPart = (([length, parts, part]: readonly [number, number, number], s: number): number => {
  const line = Math.floor(s / parts);
  return line * length + Math.min(length, (s - line * parts) * part);
}) as unknown as Read;

/** A thread a line, or a part of one. */
function reducingColumns(
  place: Workplace,
  operator: Operator,
  input: Input,
  { outer, length, inner }: Lines,
  out: DeviceNDArray,
  init: unknown,
): Step[] {
  const { context, stream } = place;
  const wanted = onHost(context) ? WANTED.host : WANTED.gpu;
  const most = Math.floor(length / LEAST);
  const about = out.size >= wanted / 2 ? 1 : Math.max(1, Math.min(most, Math.ceil(wanted / out.size)));
  const part = Math.ceil(length / about);
  const parts = Math.ceil(length / part);
  const into = parts === 1 ? out : place.temporary([outer * parts * inner], operator.type);
  const { op, name, type } = operator;
  const jit = jitOn(context);
  const keys = ['columns', jit, op, name, spellDType(type), spellDType(into.dtype), input.read];
  const kernel = remember(keys, () => columnsOf(jit, operator, input.read, castTo(into.dtype)));
  const first = parts === 1 ? initOf(init, type) : undefined;
  const numbers = [length, inner, parts, part].map((n) => scalar(i32, n));
  const step: Step = {
    kernel: kernel as unknown as Step['kernel'],
    shape: { grid: Math.ceil(into.size / BLOCK), block: BLOCK, stream },
    args: [input.argument, into, first, numbers],
  };
  if (parts === 1) return [step];
  return [step, ...reducingColumns(place, operator, arrayInput(into), { outer, length: parts, inner }, out, init)];
}

type Numbers = readonly [length: number, inner: number, parts: number, part: number];
type Columns = Kernel<[x: Value, out: Vec<Value>, init: Value | undefined, numbers: Numbers]>;

function columnsOf(jit: Jit, { op, cast, name }: Operator, read: Read, to: Operator['cast']): Columns {
  const load = deviceFunction(
    ({ read, cast }: { readonly read: Read; readonly cast: Operator['cast'] }) =>
      (x: Value, i: number) =>
        cast(read(x, i)),
    { read, cast } as { readonly read: Read; readonly cast: Operator['cast'] } & Record<string, unknown>,
  );
  const captures = { ...WORDS, op, cast, load, to };
  return jit(
    ({ grid, op, cast, load, to }: typeof captures) =>
      (x: Value, out: Vec<Value>, init: Value | undefined, [length, inner, parts, part]: Numbers) => {
        const g = grid(1);
        if (g >= out.length) return;
        const q = Math.floor(g / inner);
        const o = Math.floor(q / parts);
        const from = (q - o * parts) * part;
        const end = Math.min(length, from + part);
        let at = (o * length + from) * inner + (g - q * inner);
        let value = load(x, at);
        if (init !== undefined) value = cast(op(cast(init), value));
        at += inner;
        let k = from + 1;
        // Several loads in flight; the order stays.
        for (; k + 3 < end; k += 4) {
          const [a, b, c, d] = [load(x, at), load(x, at + inner), load(x, at + 2 * inner), load(x, at + 3 * inner)];
          value = cast(op(cast(op(cast(op(cast(op(value, a)), b)), c)), d));
          at += 4 * inner;
        }
        for (; k < end; k++) {
          value = cast(op(value, load(x, at)));
          at += inner;
        }
        out[g] = to(value);
      },
    { captures, name },
  ) as unknown as Columns;
}
