/**
 * Colours for a program while it is edited. Not a parser: it knows comments, strings, numbers, words of the language and calls, which is
 * what a reader looks for, and costs nothing to load.
 */
export interface Piece {
  readonly text: string;
  /** What its class is called; empty for plain text. */
  readonly kind: '' | 'comment' | 'string' | 'number' | 'keyword' | 'call';
}

const WORDS =
  'as async await break case catch class const continue default do else export extends false finally for from function if import in instanceof let new null of return super switch this throw true try typeof undefined var void while yield';
const TOKEN = new RegExp(
  [
    String.raw`(?<comment>//.*|/\*[\s\S]*?(?:\*/|$))`,
    String.raw`(?<string>'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?|${'`'}(?:[^${'`'}\\]|\\[\s\S])*${'`'}?)`,
    String.raw`(?<number>\b(?:0[xbo][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)n?\b)`,
    String.raw`(?<keyword>\b(?:${WORDS.replaceAll(' ', '|')})\b)`,
    String.raw`(?<call>\b[A-Za-z_$][\w$]*(?=\())`,
  ].join('|'),
  'gi',
);

/** The lines of a program, each in pieces. */
export function highlight(code: string): Piece[][] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const match of code.matchAll(TOKEN)) {
    pieces.push({ text: code.slice(done, match.index), kind: '' });
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    pieces.push({ text: match[0], kind: kind as Piece['kind'] });
    done = match.index + match[0].length;
  }
  pieces.push({ text: code.slice(done), kind: '' });
  return linesOf(pieces);
}

/** Comments and templates may be of several lines. */
function linesOf(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const { text, kind } of pieces) {
    text.split('\n').forEach((part, at) => {
      if (at > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, kind });
    });
  }
  return lines;
}
