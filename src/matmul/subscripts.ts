/**
 * The subscripts of `einsum`, read: which axis of which operand has which label, how long each is, and which are left. Pure.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape } from '../layout/index.ts';
import { show } from '../show.ts';

/** Axes by their labels: letters, and `…0`, `…1` for those that an ellipsis stands for, the last one first. */
export type Labels = readonly string[];

/** What subscripts say of operands. */
export interface Subscripts {
  readonly inputs: readonly Labels[];
  readonly output: Labels;
  /** How long each axis is. */
  readonly sizes: ReadonlyMap<string, number>;
}

const ELLIPSIS = '...';

/** Reads subscripts such as `'ij,jk->ik'` for operands of these shapes. Throws TypeError, RangeError with what is wrong where. */
export function readSubscripts(text: unknown, shapes: readonly (readonly number[])[]): Subscripts {
  if (typeof text !== 'string') {
    throw new TsambaTypeError(
      'E_EINSUM',
      `einsum: the first argument must be subscripts such as 'ij,jk->ik', got ${show(text)}`,
    );
  }
  const parts = text.replaceAll(' ', '').split('->');
  if (parts.length > 2) throw wrong(text, "there is more than one '->'");
  const [left = '', right] = parts;
  const terms = left.split(',');
  if (terms.length !== shapes.length) {
    throw wrong(text, `subscripts for ${operands(terms.length)}, and ${operands(shapes.length)} given`);
  }
  const named = terms.map((term, k) => lettersOf(text, term, `operand ${k + 1}`));
  const inputs = named.map((labels, k) => expanded(text, labels, shapes[k] ?? [], k));
  const sizes = sizesOf(text, inputs, shapes);
  const output = right === undefined ? implied(inputs) : stated(text, right, inputs);
  return { inputs, output, sizes };
}

function operands(count: number): string {
  return `${count} operand${count === 1 ? '' : 's'}`;
}

function wrong(text: string, what: string): TsambaRangeError {
  return new TsambaRangeError('E_EINSUM', `einsum: in ${show(text)}, ${what}`);
}

/** The letters of a term, with `...` as one. */
function lettersOf(text: string, term: string, of: string): string[] {
  const labels: string[] = [];
  for (let k = 0; k < term.length; k++) {
    const letter = term[k] as string;
    if (/[A-Za-z]/.test(letter)) {
      labels.push(letter);
    } else if (term.startsWith(ELLIPSIS, k)) {
      if (labels.includes(ELLIPSIS)) throw wrong(text, `${of}, ${show(term)}, has '...' twice`);
      labels.push(ELLIPSIS);
      k += 2;
    } else {
      throw wrong(text, `${of}, ${show(term)}, has ${show(letter)}: subscripts are letters, and '...'`);
    }
  }
  return labels;
}

/** The labels of all axes of an operand. */
function expanded(text: string, labels: readonly string[], shape: readonly number[], k: number): string[] {
  const rest = shape.length - labels.filter((label) => label !== ELLIPSIS).length;
  if (labels.includes(ELLIPSIS) ? rest < 0 : rest !== 0) {
    const count = labels.length === 0 ? 'no subscripts' : `subscripts '${labels.join('')}'`;
    throw wrong(text, `operand ${k + 1} has ${count}, and ${shape.length} axes: its shape is ${formatShape(shape)}`);
  }
  return labels.flatMap((label) =>
    label === ELLIPSIS ? Array.from({ length: rest }, (_, q) => `…${rest - 1 - q}`) : [label],
  );
}

/** How long axes are; those of length 1 are as long as the others of their label. */
function sizesOf(text: string, inputs: readonly Labels[], shapes: readonly (readonly number[])[]): Map<string, number> {
  const sizes = new Map<string, number>();
  const from = new Map<string, number>();
  for (const [k, labels] of inputs.entries()) {
    for (const [axis, label] of labels.entries()) {
      const length = shapes[k]?.[axis] ?? 1;
      const known = sizes.get(label);
      if (known === undefined || known === 1) {
        sizes.set(label, length);
        from.set(label, k);
      } else if (length !== known && length !== 1) {
        const name = label.startsWith('…') ? `an axis of '...'` : `'${label}'`;
        throw wrong(
          text,
          `${name} is ${known} in operand ${(from.get(label) ?? 0) + 1} and ${length} in operand ${k + 1}`,
        );
      }
    }
  }
  return sizes;
}

/** Without an output: what ellipses stand for, then the labels that appear once, in the order of the alphabet. */
function implied(inputs: readonly Labels[]): string[] {
  const counts = new Map<string, number>();
  for (const label of inputs.flat()) counts.set(label, (counts.get(label) ?? 0) + 1);
  const once = [...counts].flatMap(([label, count]) => (count === 1 && !label.startsWith('…') ? [label] : []));
  return [...ellipsisOf(inputs), ...once.sort()];
}

function stated(text: string, right: string, inputs: readonly Labels[]): string[] {
  const all = new Set(inputs.flat());
  const labels = lettersOf(text, right, 'the output');
  for (const [k, label] of labels.entries()) {
    if (label === ELLIPSIS) continue;
    if (!all.has(label)) throw wrong(text, `the output has '${label}', which no operand has`);
    if (labels.indexOf(label) !== k) throw wrong(text, `the output has '${label}' twice`);
  }
  const stands = ellipsisOf(inputs);
  if (stands.length > 0 && !labels.includes(ELLIPSIS)) {
    throw wrong(text, `'...' stands for ${stands.length} of the axes, and the output has no '...'`);
  }
  return labels.flatMap((label) => (label === ELLIPSIS ? stands : [label]));
}

/** The axes that ellipses stand for, the outermost first. */
function ellipsisOf(inputs: readonly Labels[]): string[] {
  const most = Math.max(0, ...inputs.flat().map((label) => (label.startsWith('…') ? Number(label.slice(1)) + 1 : 0)));
  return Array.from({ length: most }, (_, k) => `…${most - 1 - k}`);
}
