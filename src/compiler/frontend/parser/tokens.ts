/**
 * The tokens of a text that is known to be valid, as the engine has parsed it before. Regular expressions and templates, which begin like operators, are read when the parser expects them.
 */

/** What a token is: a name or a keyword, a number, a string, an operator or bracket, the end of the text. */
export type TokenKind = 'name' | 'private' | 'number' | 'string' | 'sign' | 'end';

/** A node of the syntax tree, of ESTree's types. */
export interface Tree {
  type: string;
  start: number;
  end: number;
  [property: string]: unknown;
}

const SPACE = /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
const NAME =
  /#?(?:[$_\p{ID_Start}]|\\u(?:[\da-f]{4}|\{[\da-f]+\}))(?:[$\p{ID_Continue}]|\u200c|\u200d|\\u(?:[\da-f]{4}|\{[\da-f]+\}))*/iuy;
const NUMBER = /0[xob][\da-f_]+n?|(?:\d[\d_]*)n|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[-+]?\d[\d_]*)?/iy;
const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const SIGN =
  />>>=|\.{3}|[=!]==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|[=!<>]=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|[-+*/%&|^]=|\*\*|<<|>>|[-+*/%&|^!~<>=?:;,.(){}[\]`]/y;
const REGEXP = /\/((?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+)\/([\p{ID_Continue}]*)/uy;
const CHUNK = /(?:[^`\\$]+|\\[\s\S]|\$(?!\{))*/y;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', v: '\v', f: '\f' };

/** What an escape stands for; undefined where it is not valid, as in tagged templates. */
function unescaped(text: string): string | undefined {
  let valid = true;
  const value = text.replace(
    /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2})|([0-3]?[0-7]?[0-7])|(\r\n|[\s\S]))/gi,
    (...found) => {
      const [, long, four, two, octal, plain = ''] = found as (string | undefined)[];
      const code = long ?? four ?? two;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (plain === 'u' || plain === 'x') valid = false;
      return /[\r\n\u2028\u2029]/.test(plain) ? '' : (ESCAPES[plain] ?? plain);
    },
  );
  return valid ? value : undefined;
}

function numberOf(raw: string): number | bigint {
  const digits = raw.replaceAll('_', '');
  if (/n$/.test(digits) && !/^0x[\da-f]*$/i.test(digits)) return BigInt(digits.slice(0, -1));
  return /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
}

/** Reads one token after another. */
export class Tokens {
  readonly text: string;
  kind: TokenKind = 'end';
  /** The token as it is written; of a name, what it means. */
  token = '';
  start = 0;
  end: number;
  /** Whether it stands on a new line. */
  newLine = false;
  /** Where the token before it ends. */
  lastEnd: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.end = at;
    this.lastEnd = at;
    this.next();
  }

  next(): void {
    const { text } = this;
    this.lastEnd = this.end;
    SPACE.lastIndex = this.end;
    const space = SPACE.exec(text)?.[0] ?? '';
    this.newLine = /[\n\r\u2028\u2029]/.test(space);
    this.start = this.end + space.length;
    if (this.start >= text.length) this.#take('end', '');
    else {
      this.#found('name', NAME) ||
        this.#found('number', NUMBER) ||
        this.#found('string', STRING) ||
        this.#found('sign', SIGN) ||
        this.fail(`Unexpected character '${text[this.start]}'`);
    }
  }

  #found(kind: TokenKind, pattern: RegExp): boolean {
    pattern.lastIndex = this.start;
    const [raw] = pattern.exec(this.text) ?? [];
    if (raw === undefined || raw === '') return false;
    this.#take(kind, raw);
    return true;
  }

  #take(kind: TokenKind, raw: string): void {
    this.end = this.start + raw.length;
    this.kind = raw.startsWith('#') ? 'private' : kind;
    this.token = kind === 'name' ? (unescaped(raw) ?? raw) : raw;
  }

  /** Whether the token is this sign or this name; strings and numbers never are. */
  is(token: string): boolean {
    return (
      this.token === token && (this.kind === 'sign' || (this.kind === 'name' && this.end - this.start === token.length))
    );
  }

  /** Takes it if it is. */
  eat(token: string): boolean {
    const found = this.is(token);
    if (found) this.next();
    return found;
  }

  expect(token: string): void {
    if (!this.eat(token)) this.unexpected();
  }

  unexpected(): never {
    return this.fail('Unexpected token');
  }

  fail(message: string, at: number = this.start): never {
    throw Object.assign(new SyntaxError(message), { pos: at });
  }

  /** What stands behind the token, without taking it. */
  peek<T>(look: () => T): T {
    const { kind, token, start, end, newLine, lastEnd } = this;
    this.next();
    const seen = look();
    Object.assign(this, { kind, token, start, end, newLine, lastEnd });
    return seen;
  }

  /** A node that begins at `start` and ends before the token. */
  node(start: number, type: string, properties: object): Tree {
    return { type, start, end: this.lastEnd, ...properties };
  }

  /** A literal: the token, which is a number or a string. */
  literal(): Tree {
    const { start, kind } = this;
    const raw = this.text.slice(start, this.end);
    const value = kind === 'number' ? numberOf(raw) : unescaped(raw.slice(1, -1));
    this.next();
    const bigint = typeof value === 'bigint' ? { bigint: String(value) } : {};
    return this.node(start, 'Literal', { value, raw, ...bigint });
  }

  /** A regular expression, where the token is the `/` or `/=` that it begins with. */
  regExp(): Tree {
    const { start } = this;
    if (!this.#found('sign', REGEXP)) this.fail('Unterminated regular expression');
    const raw = this.token;
    const at = raw.lastIndexOf('/');
    const regex = { pattern: raw.slice(1, at), flags: raw.slice(at + 1) };
    this.next();
    return this.node(start, 'Literal', { regex, raw, value: new RegExp(regex.pattern, regex.flags) });
  }

  /** A piece of a template, where the token is the backtick or the brace before it. */
  chunk(): Tree {
    const start = this.end;
    CHUNK.lastIndex = start;
    const text = (CHUNK.exec(this.text)?.[0] ?? '').replaceAll(/\r\n?/g, '\n');
    const end = CHUNK.lastIndex;
    const tail = this.text[end] === '`';
    this.start = end;
    this.end = end + (tail ? 1 : 2);
    if (this.end > this.text.length) this.fail('Unterminated template');
    this.next();
    const cooked = unescaped(text) ?? null;
    return { type: 'TemplateElement', start, end, value: { raw: text, cooked }, tail };
  }
}
