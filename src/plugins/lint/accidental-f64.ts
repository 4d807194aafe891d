/**
 * `accidental-f64`: fractions that nothing says the type of. A literal takes the type of what it meets; in a kernel over integers it meets none, and all is
 * computed in f64, which is slow on most GPUs and missing on some.
 */
import { hasOption, type KernelNode } from './kernels.ts';
import { kernelRule, type Rule } from './rule.ts';
import { child, type Node, nameOf, numberOf, some, walk } from './tree.ts';

export const accidentalF64: Rule = kernelRule(
  'suggestion',
  'Disallow fractions whose type falls to f64 because nothing decides it',
  {
    undecided:
      '`{{text}}` is computed in f64: no array, cast or option of this kernel determines its float type. Write `f32({{text}})` where it begins, or give jit ' +
      "`{ defaultFloat: 'f32' }`; `{ defaultFloat: 'f64' }` says that f64 is meant.",
  },
  (kernel, context) => {
    if (!decidedByNothing(kernel, (node) => context.sourceCode.getText(node))) return;
    const first = firstFraction(kernel.body);
    if (first !== undefined)
      context.report({ node: first, messageId: 'undecided', data: { text: context.sourceCode.getText(first) } });
  },
);

const FLOAT = /\b(?:b?f16|f32|f64|c64|c128|f8e4m3|f8e5m2|b?float\d*|double|f(?:16|32|64)x\d|struct)\b/i;
const INTEGER = /\b(?:[iu](?:8|16|32|64)|u8c|bool)\b/;

/** Whether all types are written and none of them is a float, or could be. */
function decidedByNothing({ body, params, options }: KernelNode, text: (node: Node) => string): boolean {
  if (options !== undefined && ['defaultFloat', 'signature'].some((name) => hasOption(options, name))) return false;
  if (options !== undefined && options.type !== 'ObjectExpression') return false;
  const annotations = params.map((param) => {
    const own = child(param, 'typeAnnotation');
    return own === undefined ? undefined : text(own).replace(/^:\s*/, '');
  });
  const known = (type: string | undefined): boolean =>
    type !== undefined && (type === 'number' || (INTEGER.test(type) && !FLOAT.test(type)));
  if (!annotations.every(known) || annotations.every((type) => type === 'number')) return false;
  return !some(
    body,
    (node) => FLOAT.test(nameOf(node) ?? '') || (typeof node['value'] === 'string' && FLOAT.test(node['value'])),
  );
}

const FRACTIONS =
  /^(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|expm1|log|log2|log10|log1p|sqrt|cbrt|pow|hypot)$/;

/** The first fractional literal, or call of a function that gives fractions. */
function firstFraction(body: Node): Node | undefined {
  let found: Node | undefined;
  walk(body, (node) => {
    if (found !== undefined || /^TS(?!NonNull|As)/.test(node.type)) return false;
    const value = numberOf(node);
    if (value !== undefined && !Number.isInteger(value)) found = node;
    const callee = node.type === 'CallExpression' ? child(node, 'callee') : undefined;
    const isMath = callee?.type === 'MemberExpression' && nameOf(child(callee, 'object')) === 'Math';
    if (isMath && FRACTIONS.test(nameOf(child(callee, 'property')) ?? '')) found = node;
    return true;
  });
  return found;
}
