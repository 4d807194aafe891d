/**
 * Expressions: the syntax tree as acorn makes it, of texts that are known to be valid.
 *
 * What may become a pattern, parameters of arrow functions and targets of assignments, is read as an expression first.
 */
import { Tokens, type Tree } from './tokens.ts';

const BINARY: Readonly<Record<string, number>> = {
  '??': 1,
  '||': 1,
  '&&': 2,
  '|': 3,
  '^': 4,
  '&': 5,
  '==': 6,
  '!=': 6,
  '===': 6,
  '!==': 6,
  '<': 7,
  '>': 7,
  '<=': 7,
  '>=': 7,
  instanceof: 7,
  in: 7,
  '<<': 8,
  '>>': 8,
  '>>>': 8,
  '+': 9,
  '-': 9,
  '*': 10,
  '/': 10,
  '%': 10,
  '**': 11,
};

const UNARY = ['!', '~', '+', '-', 'typeof', 'void', 'delete'];
const CONSTANTS: Readonly<Record<string, unknown>> = { null: null, true: true, false: false };

/** What a function is, which decides what `await` and `yield` mean in it. */
export interface FunctionFlags {
  readonly async: boolean;
  readonly generator: boolean;
}

/** A parser of expressions; what functions consist of is left to one of statements. */
export abstract class Expressions extends Tokens {
  protected inside: FunctionFlags = { async: false, generator: false };

  abstract block(): Tree;
  abstract body(): Tree;

  // lists

  expression(noIn = false): Tree {
    const { start } = this;
    const first = this.assignment(noIn);
    if (!this.is(',')) return first;
    const expressions = [first];
    while (this.eat(',')) expressions.push(this.assignment(noIn));
    return this.node(start, 'SequenceExpression', { expressions });
  }

  /** Items up to `end`, which is taken; `undefined` for what is left out. */
  #list(end: string, item: () => Tree | null): (Tree | null)[] {
    const items: (Tree | null)[] = [];
    while (!this.is(end)) {
      items.push(this.is(',') ? null : item());
      if (!this.is(end)) this.expect(',');
    }
    this.next();
    return items;
  }

  #spreadable(): Tree {
    const { start } = this;
    if (!this.eat('...')) return this.assignment();
    const argument = this.assignment();
    return this.node(start, 'SpreadElement', { argument });
  }

  args(): (Tree | null)[] {
    this.expect('(');
    return this.#list(')', () => this.#spreadable());
  }

  // operators

  assignment(noIn = false): Tree {
    const { start } = this;
    if (this.inside.generator && this.is('yield')) return this.#yield(noIn);
    const left = this.#conditional(start, noIn);
    if (this.kind !== 'sign' || !/^(?:[^=!<>]*|<<|>>>?)=$/.test(this.token) || this.#isBareArrow(left)) return left;
    const operator = this.token;
    const target = operator === '=' ? this.pattern(left) : left;
    this.next();
    const right = this.assignment(noIn);
    return this.node(start, 'AssignmentExpression', { operator, left: target, right });
  }

  /** An arrow function that is not in parentheses: nothing goes on behind it. */
  #isBareArrow({ type, end }: Tree): boolean {
    return type === 'ArrowFunctionExpression' && end === this.lastEnd;
  }

  #yield(noIn: boolean): Tree {
    const { start } = this;
    this.next();
    const delegate = !this.newLine && this.eat('*');
    const ends = this.newLine || this.kind === 'end' || /^[)\]},;:]$/.test(this.token);
    const argument = ends && !delegate ? null : this.assignment(noIn);
    return this.node(start, 'YieldExpression', { delegate, argument });
  }

  #conditional(start: number, noIn: boolean): Tree {
    const test = this.#binary(start, this.#unary(), 0, noIn);
    if (this.#isBareArrow(test) || !this.eat('?')) return test;
    const consequent = this.assignment();
    this.expect(':');
    const alternate = this.assignment(noIn);
    return this.node(start, 'ConditionalExpression', { test, consequent, alternate });
  }

  #binary(start: number, first: Tree, least: number, noIn: boolean): Tree {
    let left = first;
    while (!this.#isBareArrow(left)) {
      const operator = this.token;
      const binds =
        this.kind === 'sign' || this.is('in') || this.is('instanceof')
          ? Object.hasOwn(BINARY, operator)
            ? BINARY[operator]
            : 0
          : 0;
      if (binds === undefined || binds <= least || (noIn && operator === 'in')) break;
      this.next();
      const at = this.start;
      // Powers are the one operator that begins on the right.
      const right = this.#binary(at, this.#unary(), operator === '**' ? binds - 1 : binds, noIn);
      const type = /^(?:&&|\|\||\?\?)$/.test(operator) ? 'LogicalExpression' : 'BinaryExpression';
      left = this.node(start, type, { left, operator, right });
    }
    return left;
  }

  #unary(): Tree {
    const { start, token: operator } = this;
    if (this.is('++') || this.is('--')) {
      this.next();
      const argument = this.#unary();
      return this.node(start, 'UpdateExpression', { operator, prefix: true, argument });
    }
    if (UNARY.some((each) => this.is(each))) {
      this.next();
      const argument = this.#unary();
      return this.node(start, 'UnaryExpression', { operator, prefix: true, argument });
    }
    if (this.inside.async && this.eat('await')) {
      const argument = this.#unary();
      return this.node(start, 'AwaitExpression', { argument });
    }
    if (this.kind === 'private') return this.#private();
    const argument = this.subscripts(start, this.primary());
    if ((!this.is('++') && !this.is('--')) || this.newLine) return argument;
    const update = this.token;
    this.next();
    return this.node(start, 'UpdateExpression', { operator: update, prefix: false, argument });
  }

  // calls and members

  subscripts(start: number, first: Tree, noCalls = false): Tree {
    if (this.#isBareArrow(first)) return first;
    let base = first;
    let chained = false;
    for (;;) {
      const optional = !noCalls && this.eat('?.');
      chained ||= optional;
      if (this.eat('[')) {
        const property = this.expression();
        this.expect(']');
        base = this.node(start, 'MemberExpression', { object: base, property, computed: true, optional });
      } else if (!noCalls && this.is('(')) {
        const given = this.args();
        base = this.node(start, 'CallExpression', { callee: base, arguments: given, optional });
      } else if (this.is('`')) {
        const quasi = this.#template();
        base = this.node(start, 'TaggedTemplateExpression', { tag: base, quasi });
      } else if (optional || this.eat('.')) {
        const property = this.kind === 'private' ? this.#private() : this.name();
        base = this.node(start, 'MemberExpression', { object: base, property, computed: false, optional });
      } else break;
    }
    return chained ? this.node(start, 'ChainExpression', { expression: base }) : base;
  }

  /** An identifier, or a keyword in the place of one. */
  name(): Tree {
    const { start, token: name } = this;
    if (this.kind !== 'name') this.unexpected();
    this.next();
    return this.node(start, 'Identifier', { name });
  }

  #private(): Tree {
    const { start, token } = this;
    this.next();
    return this.node(start, 'PrivateIdentifier', { name: token.slice(1) });
  }

  #new(): Tree {
    const { start } = this;
    const meta = this.name();
    if (this.eat('.')) {
      const property = this.name();
      return this.node(start, 'MetaProperty', { meta: { ...meta, name: 'new' }, property });
    }
    const at = this.start;
    const callee = this.subscripts(at, this.is('new') ? this.#new() : this.primary(), true);
    const given = this.is('(') ? this.args() : [];
    return this.node(start, 'NewExpression', { callee, arguments: given });
  }

  primary(): Tree {
    const { start, token } = this;
    if (this.kind === 'number' || this.kind === 'string') return this.literal();
    if (this.kind === 'name') return this.#named();
    switch (token) {
      case '(':
        return this.#parenthesised();
      case '[': {
        this.next();
        const elements = this.#list(']', () => this.#spreadable());
        return this.node(start, 'ArrayExpression', { elements });
      }
      case '{': {
        this.next();
        const properties = this.#list('}', () => this.#property());
        return this.node(start, 'ObjectExpression', { properties });
      }
      case '/':
      case '/=':
        return this.regExp();
      case '`':
        return this.#template();
      default:
        return this.unexpected();
    }
  }

  #named(): Tree {
    const { start, token } = this;
    if (this.is('function')) return this.function(start, false, false);
    if (this.is('class')) return this.class('ClassExpression');
    if (this.is('new')) return this.#new();
    if (this.is('async') && this.peek(() => this.is('function') && !this.newLine)) {
      this.next();
      return this.function(start, true, false);
    }
    if (this.is('async') && this.peek(() => this.kind === 'name' && !this.newLine && this.peek(() => this.is('=>')))) {
      this.next();
      return this.#arrow(start, [this.name()], true);
    }
    const id = this.name();
    if (token === 'this' || token === 'super')
      return this.node(start, token === 'this' ? 'ThisExpression' : 'Super', {});
    if (Object.hasOwn(CONSTANTS, token)) return this.node(start, 'Literal', { value: CONSTANTS[token], raw: token });
    if (token === 'import') return this.#import(start, id);
    if (this.is('=>') && !this.newLine) return this.#arrow(start, [id], false);
    if (token !== 'async' || !this.is('(') || this.newLine) return id;
    const given = this.args();
    if (this.is('=>'))
      return this.#arrow(
        start,
        given.map((each) => this.pattern(each as Tree)),
        true,
      );
    return this.node(start, 'CallExpression', { callee: id, arguments: given, optional: false });
  }

  #import(start: number, meta: Tree): Tree {
    if (this.eat('.')) {
      const property = this.name();
      return this.node(start, 'MetaProperty', { meta, property });
    }
    const [source, options = null] = this.args();
    return this.node(start, 'ImportExpression', { source, options });
  }

  #parenthesised(): Tree {
    const { start } = this;
    this.next();
    const inner = this.start;
    let end = inner;
    const items = this.#list(')', () => {
      const item = this.#spreadable();
      end = this.lastEnd;
      return item;
    });
    if (this.is('=>') && !this.newLine) {
      const params = items.map((each) => this.pattern(each as Tree));
      return this.#arrow(start, params, false);
    }
    const [first, second] = items;
    if (!first) return this.unexpected();
    return second === undefined ? first : { type: 'SequenceExpression', start: inner, end, expressions: items };
  }

  #template(): Tree {
    const { start } = this;
    const quasis: Tree[] = [];
    const expressions: Tree[] = [];
    for (;;) {
      const chunk = this.chunk();
      quasis.push(chunk);
      if (chunk['tail'] === true) return this.node(start, 'TemplateLiteral', { expressions, quasis });
      expressions.push(this.expression());
      if (!this.is('}')) this.unexpected();
    }
  }

  // objects

  /** A name, a string, a number or an expression in brackets. */
  #key(): { readonly key: Tree; readonly computed: boolean } {
    if (this.kind === 'private') return { key: this.#private(), computed: false };
    if (this.kind === 'number' || this.kind === 'string') return { key: this.literal(), computed: false };
    if (!this.eat('[')) return { key: this.name(), computed: false };
    const key = this.assignment();
    this.expect(']');
    return { key, computed: true };
  }

  /** Takes a word before a key if it is one: `get` of `get x()`, and not of `get: 1`. */
  #prefix(word: string): boolean {
    const isKey = (): boolean =>
      this.kind !== 'sign'
        ? this.kind !== 'end'
        : this.is('[') ||
          (this.is('*') && (word === 'async' || word === 'static')) ||
          (word === 'static' && this.is('{'));
    const found = this.is(word) && this.peek(() => isKey() && !(word === 'async' && this.newLine));
    if (found) this.next();
    return found;
  }

  #property(): Tree {
    const { start } = this;
    if (this.is('...')) return this.#spreadable();
    const async = this.#prefix('async');
    const generator = this.eat('*');
    const kind = this.#prefix('get') ? 'get' : this.#prefix('set') ? 'set' : 'init';
    const isName = this.kind === 'name';
    const { key, computed } = this.#key();
    const shape = { computed, key, kind };
    if (this.is('(')) {
      const value = this.method({ async, generator });
      return this.node(start, 'Property', { ...shape, method: kind === 'init', shorthand: false, value });
    }
    if (this.eat(':')) {
      const value = this.assignment();
      return this.node(start, 'Property', { ...shape, method: false, shorthand: false, value });
    }
    if (!isName || computed) this.unexpected();
    let value: Tree = { ...key };
    if (this.eat('=')) {
      const right = this.assignment();
      value = this.node(start, 'AssignmentPattern', { left: { ...key }, right });
    }
    return this.node(start, 'Property', { ...shape, method: false, shorthand: true, value });
  }

  /** What was read as an expression, as a pattern. */
  pattern(tree: Tree): Tree {
    const each = (list: unknown): (Tree | null)[] =>
      (list as (Tree | null)[]).map((item) => item && this.pattern(item));
    switch (tree.type) {
      case 'ObjectExpression':
        return { ...tree, type: 'ObjectPattern', properties: each(tree['properties']) };
      case 'ArrayExpression':
        return { ...tree, type: 'ArrayPattern', elements: each(tree['elements']) };
      case 'Property':
        return { ...tree, value: this.pattern(tree['value'] as Tree) };
      case 'SpreadElement':
        return { ...tree, type: 'RestElement', argument: this.pattern(tree['argument'] as Tree) };
      case 'AssignmentExpression': {
        const { operator: _, ...rest } = tree;
        return { ...rest, type: 'AssignmentPattern' } as Tree;
      }
      case 'Identifier':
      case 'MemberExpression':
      case 'ObjectPattern':
      case 'ArrayPattern':
      case 'AssignmentPattern':
      case 'RestElement':
        return tree;
      default:
        return this.fail('Assigning to rvalue', tree.start);
    }
  }

  // functions

  /** Runs `read` in a function of this kind. */
  #within<T>(flags: FunctionFlags, read: () => T): T {
    const outer = this.inside;
    this.inside = flags;
    const result = read();
    this.inside = outer;
    return result;
  }

  #params(): Tree[] {
    return this.args().map((each) => (each === null ? this.unexpected() : this.pattern(each)));
  }

  #arrow(start: number, params: readonly Tree[], async: boolean): Tree {
    this.expect('=>');
    const expression = !this.is('{');
    const body = this.#within({ async, generator: false }, () => (expression ? this.assignment() : this.body()));
    return this.node(start, 'ArrowFunctionExpression', { id: null, expression, generator: false, async, params, body });
  }

  method(flags: FunctionFlags): Tree {
    const { start } = this;
    const [params, body] = this.#within(flags, () => [this.#params(), this.body()] as const);
    return this.node(start, 'FunctionExpression', { id: null, expression: false, ...flags, params, body });
  }

  /** A function from its keyword on. */
  function(start: number, async: boolean, isStatement: boolean): Tree {
    this.next();
    const flags = { async, generator: this.eat('*') };
    const id = this.is('(') ? null : this.name();
    const [params, body] = this.#within(flags, () => [this.#params(), this.body()] as const);
    const type = isStatement ? 'FunctionDeclaration' : 'FunctionExpression';
    return this.node(start, type, { id, expression: false, ...flags, params, body });
  }

  // classes

  class(type: string): Tree {
    const { start } = this;
    this.next();
    const id = this.is('{') || this.is('extends') ? null : this.name();
    let superClass: Tree | null = null;
    if (this.eat('extends')) superClass = this.subscripts(this.start, this.primary());
    const from = this.start;
    this.expect('{');
    const members: Tree[] = [];
    while (!this.is('}')) if (!this.eat(';')) members.push(this.#member());
    this.next();
    const body = this.node(from, 'ClassBody', { body: members });
    return this.node(start, type, { id, superClass, body });
  }

  #member(): Tree {
    const { start } = this;
    const isStatic = this.#prefix('static');
    if (isStatic && this.is('{')) {
      const { body } = this.#within({ async: false, generator: false }, () => this.block());
      return this.node(start, 'StaticBlock', { body });
    }
    const async = this.#prefix('async');
    const generator = this.eat('*');
    const accessor = this.#prefix('get') ? 'get' : this.#prefix('set') ? 'set' : undefined;
    const { key, computed } = this.#key();
    const shape = { static: isStatic, computed, key };
    if (this.is('(')) {
      const named =
        !computed &&
        (key['name'] === 'constructor' || key['value'] === 'constructor') &&
        key.type !== 'PrivateIdentifier';
      const kind = accessor ?? (named && !isStatic && !async && !generator ? 'constructor' : 'method');
      const value = this.method({ async, generator });
      return this.node(start, 'MethodDefinition', { ...shape, kind, value });
    }
    const value = this.eat('=') ? this.#within({ async: false, generator: false }, () => this.assignment()) : null;
    this.semicolon();
    return this.node(start, 'PropertyDefinition', { ...shape, value });
  }

  /** Takes the end of a statement, which may be left out at the end of a line and before a brace. */
  semicolon(): void {
    if (!this.eat(';') && !this.is('}') && this.kind !== 'end' && !this.newLine) this.unexpected();
  }
}
