/**
 * The layout of a generalised universal function, `'(m,n),(n,p)->(m,p)'`: which axes of its arguments the function sees, and which have one length.
 */
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** A length: a symbol, or the number that it must be. */
export type CoreAxis = string | number;

/** The axes at the end of every argument. */
export interface CoreLayout {
  readonly text: string;
  readonly inputs: readonly (readonly CoreAxis[])[];
  readonly outputs: readonly (readonly CoreAxis[])[];
}

/** Reads a layout. Throws TypeError with the text and a mark under what is wrong. */
export function parseCoreLayout(what: string, given: unknown): CoreLayout {
  if (typeof given !== 'string') {
    throw new TsambaTypeError('E_LAYOUT', `${what} takes a layout such as '(m,n),(n,p)->(m,p)', got ${show(given)}`);
  }
  return new Reader(what, given).layout();
}

class Reader {
  readonly #what: string;
  readonly #text: string;
  #at = 0;

  constructor(what: string, text: string) {
    this.#what = what;
    this.#text = text;
  }

  layout(): CoreLayout {
    const known = new Set<string>();
    const inputs = this.#list((symbol) => known.add(symbol));
    this.#expect('->', 'expected -> between inputs and outputs');
    const outputs = this.#list((symbol, at) => {
      if (!known.has(symbol)) this.#fail(`${symbol} is not an axis of any input, so its length is unknown`, at);
    });
    this.#space();
    if (this.#at < this.#text.length) this.#fail('expected the end of the layout');
    return { text: this.#text, inputs, outputs };
  }

  #list(meet: (symbol: string, at: number) => void): CoreAxis[][] {
    const list = [this.#axes(meet)];
    while (this.#takes(',')) list.push(this.#axes(meet));
    return list;
  }

  #axes(meet: (symbol: string, at: number) => void): CoreAxis[] {
    this.#expect('(', 'the axes of an argument are in parentheses, () for a number');
    const axes: CoreAxis[] = [];
    if (this.#takes(')')) return axes;
    do {
      this.#space();
      const at = this.#at;
      const word = /^\w+/.exec(this.#text.slice(at))?.[0] ?? '';
      if (/^[1-9]\d*$/.test(word)) axes.push(Number(word));
      else if (/^[A-Za-z_]\w*$/.test(word)) {
        axes.push(word);
        meet(word, at);
      } else this.#fail('an axis is a name, such as n, or a length, such as 3');
      this.#at += word.length;
    } while (this.#takes(','));
    this.#expect(')', 'a parenthesis is not closed');
    return axes;
  }

  #space(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }

  #takes(token: string): boolean {
    this.#space();
    const takes = this.#text.startsWith(token, this.#at);
    if (takes) this.#at += token.length;
    return takes;
  }

  #expect(token: string, wrong: string): void {
    if (!this.#takes(token)) this.#fail(wrong);
  }

  #fail(wrong: string, at = this.#at): never {
    throw new TsambaTypeError('E_LAYOUT', `${this.#what}: ${wrong}\n  ${this.#text}\n  ${' '.repeat(at)}^`);
  }
}
