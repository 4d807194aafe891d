/**
 * Operations of the table of intrinsics: by the function that a row names, or by one whose text it brings.
 */
import type { CForm } from '../../intrinsics/row.ts';
import type { Expr } from '../../ir/ops.ts';
import { type C, callOf, type Gen, typeOf, unsignedOf } from './code.ts';
import { define } from './helpers.ts';
import type { OpenCLTarget } from './module.ts';

type Call = Expr & { readonly op: 'intrinsic' };

/** How the target says it; undefined where it has to be expanded. */
export function formOf({ fn, type }: Call, { dialect, arch }: OpenCLTarget): CForm | undefined {
  const own = fn.types.find((t) => t === type);
  const hip = dialect === 'hip' && own !== undefined ? fn.native?.hip : undefined;
  return own !== undefined && hip !== undefined ? hip(arch ?? '', own) : fn.native?.opencl;
}

export function intrinsicOf(g: Gen, print: (e: Expr) => C, e: Call): C {
  const { fn, type, args } = e;
  const form = formOf(e, g.target);
  if (form === undefined) throw new Error(`internal error: ${fn.name} of ${type} was not expanded`);
  if ('call' in form) return callOf(form.call, ...args.map(print));
  const [T, U] = [typeOf(type), unsignedOf(type)];
  const name = `${fn.name}_${type}`;
  const params = args.map((_, k) => `${T} ${'abcd'[k] ?? ''}`).join(', ');
  const body = form.body({ T, U, bits: U === 'ulong' ? 64 : 32 });
  return callOf(define(g, name, `${T} ${name}(${params}) { ${body} }`), ...args.map(print));
}
