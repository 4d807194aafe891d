/**
 * The error of a barrier that only some threads of a block would reach: in the author's words, with `cuda.uniform` where it would stand.
 */
import type { BarrierProblem } from '../ir/passes/barriers.ts';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';

export function refuseBarrier({ pos, reasonPos, jump, chain }: BarrierProblem): never {
  const head = headOf(reasonPos);
  const under =
    head !== undefined && head.word !== 'if'
      ? 'is in a loop whose condition varies between threads'
      : jump === undefined
        ? 'is under a condition that varies between threads'
        : `is skipped by a ${jump} whose condition varies between threads`;
  const array = chain.findLast(({ array: name }) => name !== undefined)?.array;
  const order =
    array === undefined
      ? 'move it out of the branch'
      : `let a barrier come between each store to ${array} and this read, and one between the read and the next store`;
  const asserted = head === undefined ? 'cuda.uniform(x)' : `${head.before}cuda.uniform(${head.cond})${head.after}`;
  return fail('K401', pos, `this barrier ${under}, so that only some threads of the block would reach it`, {
    labels: [{ pos: reasonPos, text: 'varies here' }],
    help: `a barrier must be reached by all threads of the block: ${order}; or, if the condition is the same for all of them, say so: ${asserted}`,
  });
}

interface Head {
  readonly word: string;
  readonly before: string;
  readonly cond: string;
  readonly after: string;
}

/** The condition of the statement at a position, with what stands around it: `while (` and `)`. */
function headOf({ source, start, end }: Pos): Head | undefined {
  const text = source.text.slice(start, end);
  const [, word = '', space = ''] = /^(if|while|for|do)\b(\s*)/.exec(text) ?? [];
  if (word === '') return undefined;
  const open = word === 'do' ? text.lastIndexOf('while') + 'while'.length : word.length + space.length;
  const inside = parenthesised(text, text.indexOf('(', open));
  if (inside === undefined || inside.length > 60 || inside.includes('\n')) return undefined;
  if (word !== 'for') return { word, before: `${word === 'do' ? '} while' : word} (`, cond: inside, after: ')' };
  const [init = '', cond = '', step] = inside.split(';');
  return step === undefined || cond.trim() === ''
    ? undefined
    : { word, before: `for (${init}; `, cond: cond.trim(), after: `;${step})` };
}

/** What stands between the parenthesis at an index and the one that closes it. */
function parenthesised(text: string, open: number): string | undefined {
  if (text[open] !== '(') return undefined;
  let depth = 0;
  for (let k = open; k < text.length; k++) {
    if (text[k] === '(') depth++;
    else if (text[k] === ')' && --depth === 0) return text.slice(open + 1, k);
  }
  return undefined;
}
