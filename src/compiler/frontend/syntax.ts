/**
 * Syntax trees by text: kernels that one factory makes, and device functions that many kernels call, are parsed once.
 *
 * Trees hold offsets into the text and nothing of the function that they were read from. They are shared: whoever changes one
 * in place takes one of his own. Texts that do not parse are not kept.
 */
import type { Pos, SourceText } from '../source.ts';
import type { FunctionNode } from './captured.ts';
import { type FreeVariables, freeVariables } from './free-variables.ts';
import { parseFunction } from './parse.ts';

export interface Syntax {
  readonly node: FunctionNode;
  readonly free: FreeVariables;
}

/** Trees kept, the most recently used of those whose texts are not too long. */
const MOST = 100;
const LONGEST = 20_000;

const known = new Map<string, Syntax>();

/** The tree of a function's text, which `caller` uses. Throws as `parseFunction` does. */
export function syntaxOf(source: SourceText, caller?: Pos): Syntax {
  const { text } = source;
  const found = known.get(text);
  if (found !== undefined) {
    known.delete(text);
    known.set(text, found);
    return found;
  }
  const syntax = ownSyntaxOf(source, caller);
  if (text.length > LONGEST) return syntax;
  for (const oldest of known.keys()) {
    if (known.size < MOST) break;
    known.delete(oldest);
  }
  known.set(text, syntax);
  return syntax;
}

/** The same, to be changed. */
export function ownSyntaxOf(source: SourceText, caller?: Pos): Syntax {
  const node = parseFunction(source, caller);
  return { node, free: freeVariables(node) };
}
