/**
 * Signatures of generalised universal functions, `'void(float32[:,:], float32[:,:], float32[:,:])'`, held against the layout; and which one fits a call.
 */
import type { ArgType } from '../compiler/contract.ts';
import { type DType, rowOf, SCALAR_TOKENS, type ScalarName, sameDType } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { parseSignatures, type SignatureInput } from '../kernel/signature.ts';
import { show } from '../show.ts';
import type { CoreLayout } from './core-layout.ts';
import { asScalarOf, type Operand } from './operands.ts';
import { elementOf } from './signatures.ts';

/** A parameter: its dtype, and whether one element comes as an array of one, as results must. */
export interface CoreParameter {
  readonly dtype: DType;
  readonly boxed: boolean;
}

/** The types of one compilation. */
export interface CoreSignature {
  readonly text: string;
  readonly params: readonly CoreParameter[];
}

/** Reads the option `signature` of `guvectorize`. Throws TypeError where it does not match the layout. */
export function coreSignatures(what: string, input: unknown, layout: CoreLayout): readonly CoreSignature[] | undefined {
  if (input === undefined) return undefined;
  const cores = [...layout.inputs, ...layout.outputs];
  return parseSignatures(input as SignatureInput).map(({ text, args }) => {
    if (args.length !== cores.length) {
      throw mismatch(what, text, layout, `it has ${args.length} parameters, and the layout ${cores.length} arguments`);
    }
    const params = args.map((type, k): CoreParameter => {
      const axes = cores[k]?.length ?? 0;
      const { dtype, ndim } = parameterOf(type);
      const isResult = k >= layout.inputs.length;
      const boxed = axes === 0 && ndim === 1;
      if (dtype === undefined || !(boxed || (ndim === axes && !(isResult && axes === 0)))) {
        const wanted =
          axes > 0 ? `${axes} ${axes === 1 ? 'axis' : 'axes'}` : isResult ? 'an array of one element, [:]' : 'a number';
        throw mismatch(what, text, layout, `parameter ${k + 1} should have ${wanted}`);
      }
      return { dtype, boxed };
    });
    return { text, params };
  });
}

function mismatch(what: string, text: string, layout: CoreLayout, wrong: string): TsambaTypeError {
  return new TsambaTypeError(
    'E_SIGNATURE',
    `${what}: the signature ${text} does not match the layout '${layout.text}': ${wrong}`,
  );
}

function parameterOf(type: ArgType): { readonly dtype: DType | undefined; readonly ndim: number } {
  if (type.kind !== 'array') return { dtype: elementOf(type), ndim: 0 };
  return { dtype: type.record?.dtype ?? SCALAR_TOKENS[type.elem], ndim: type.ndim };
}

/** The signature whose types the arguments have, else the first that they convert to without loss. Throws TypeError where there is none. */
export function chosen(
  name: string,
  signatures: readonly CoreSignature[],
  operands: readonly Operand[],
): CoreSignature {
  const by = (fits: (from: DType, to: DType) => boolean): CoreSignature | undefined =>
    signatures.find(({ params }) => operands.every((operand, k) => accepts(operand, params[k]?.dtype as DType, fits)));
  const found = by(sameDType) ?? by(convertsSafely);
  if (found !== undefined) return found;
  const given = operands.map((operand) =>
    operand.kind === 'array' ? `${operand.array.dtype.name} array` : show(operand.value),
  );
  throw new TsambaTypeError(
    'E_UFUNC',
    `${name}: no signature takes (${given.join(', ')}); there are ${signatures.map(({ text }) => text).join(', ')}`,
  );
}

function accepts(operand: Operand, dtype: DType, fits: (from: DType, to: DType) => boolean): boolean {
  if (operand.kind === 'array') return fits(operand.array.dtype, dtype);
  return operand.kind === 'nested' || asScalarOf(operand.value, dtype) !== undefined;
}

/** Whether every value of one dtype is a value of another: NumPy's safe casts. */
export function convertsSafely(from: DType, to: DType): boolean {
  if (sameDType(from, to)) return true;
  if (from.fields !== undefined || to.fields !== undefined || from.kind === 'c')
    return from.kind === 'c' && to.name === 'c128';
  if (to.kind === 'c') return convertsSafely(from, SCALAR_TOKENS[to.name === 'c64' ? 'f32' : 'f64']);
  const [a, b] = [rowOf(from.name as ScalarName), rowOf(to.name as ScalarName)];
  if (a.kind === 'b') return true;
  if (b.kind === 'b') return false;
  if (a.kind === 'f') return b.kind === 'f' && b.bytes > a.bytes;
  // i64 goes to f64 in NumPy too.
  if (b.kind === 'f') return b.bytes > a.bytes || (b.bytes === 8 && a.bytes === 8);
  if (a.kind === b.kind) return b.bytes >= a.bytes;
  return b.kind === 'i' && b.bytes > a.bytes;
}
