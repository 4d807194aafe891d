/**
 * What the reference transport computes: contributions of ranks combined on the host, in the order of ranks, so that the result has the
 * same bits on every rank and in every run.
 */
import { type DType, dataClassOf, narrowCodec, rowOf, SCALAR_TOKENS } from '../../dtype/index.ts';
import type { ReduceOp, WireType } from '../ops.ts';

type Numbers = { [k: number]: number; readonly length: number };
type Bigs = { [k: number]: bigint; readonly length: number };

/** All contributions as one, as bytes. They have the same length. */
export function combine(type: WireType, op: ReduceOp, parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0)] = parts;
  const total = first.slice();
  const { narrow, storage } = rowOf(type);
  const Data = dataClassOf(SCALAR_TOKENS[type] as DType);
  const viewed = (bytes: Uint8Array): unknown =>
    new Data(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / rowOf(type).bytes);
  const others = parts.slice(1).map((part) => viewed(aligned(part)));
  if (storage === 'BigInt64Array' || storage === 'BigUint64Array') {
    combineBigs(viewed(total) as Bigs, others as Bigs[], op);
  } else if (narrow !== undefined) {
    const { decode, encode } = narrowCodec(narrow);
    combineNarrow(viewed(total) as Numbers, others as Numbers[], op, decode, encode);
  } else {
    combineNumbers(viewed(total) as Numbers, others as Numbers[], op, rowOf(type).kind === 'f');
  }
  return total;
}

/** Typed arrays need their elements aligned. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/** Stores round and wrap as the type does. */
function combineNumbers(total: Numbers, others: readonly Numbers[], op: ReduceOp, isFloat: boolean): void {
  const step = numberStep(op, isFloat);
  for (const other of others) {
    for (let k = 0; k < total.length; k++) total[k] = step(total[k] as number, other[k] as number);
  }
  if (op !== 'avg') return;
  const ranks = others.length + 1;
  // Integer sums wrap before they are divided, as on the GPU.
  for (let k = 0; k < total.length; k++) total[k] = (total[k] as number) / ranks;
}

function numberStep(op: ReduceOp, isFloat: boolean): (a: number, b: number) => number {
  if (op === 'prod') return isFloat ? (a, b) => a * b : Math.imul;
  if (op === 'min') return Math.min;
  if (op === 'max') return Math.max;
  return (a, b) => a + b;
}

function combineBigs(total: Bigs, others: readonly Bigs[], op: ReduceOp): void {
  const step = bigStep(op);
  for (const other of others) {
    for (let k = 0; k < total.length; k++) total[k] = step(total[k] as bigint, other[k] as bigint);
  }
  if (op !== 'avg') return;
  const ranks = BigInt(others.length + 1);
  for (let k = 0; k < total.length; k++) total[k] = (total[k] as bigint) / ranks;
}

function bigStep(op: ReduceOp): (a: bigint, b: bigint) => bigint {
  if (op === 'prod') return (a, b) => a * b;
  const lesser = (a: bigint, b: bigint): boolean => a < b;
  if (op === 'min') return (a, b) => (lesser(b, a) ? b : a);
  if (op === 'max') return (a, b) => (lesser(a, b) ? b : a);
  return (a, b) => a + b;
}

/** Rounded to the type after each step. */
function combineNarrow(
  total: Numbers,
  others: readonly Numbers[],
  op: ReduceOp,
  decode: (bits: number) => number,
  encode: (value: number) => number,
): void {
  const step = numberStep(op, true);
  for (let k = 0; k < total.length; k++) {
    let value = decode(total[k] as number);
    for (const other of others) value = decode(encode(step(value, decode(other[k] as number))));
    total[k] = encode(op === 'avg' ? value / (others.length + 1) : value);
  }
}
