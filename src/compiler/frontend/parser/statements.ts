/**
 * Statements, and the parser that is made of all this.
 */
import { Expressions } from './expressions.ts';
import type { Tree } from './tokens.ts';

/** A parser of functions and statements. */
export class Statements extends Expressions {
  /** The body of a function, whose first strings are directives. */
  body(): Tree {
    const block = this.block();
    for (const statement of block['body'] as Tree[]) {
      const { type, raw, value } = (statement['expression'] ?? {}) as Tree;
      if (type !== 'Literal' || typeof value !== 'string' || this.text[statement.start] === '(') break;
      statement['directive'] = String(raw).slice(1, -1);
    }
    return block;
  }

  block(): Tree {
    const { start } = this;
    this.expect('{');
    const body: Tree[] = [];
    while (!this.is('}')) body.push(this.statement());
    this.next();
    return this.node(start, 'BlockStatement', { body });
  }

  program(): Tree {
    const { start } = this;
    const body: Tree[] = [];
    while (this.kind !== 'end') body.push(this.statement());
    return this.node(start, 'Program', { body, sourceType: 'script' });
  }

  statement(): Tree {
    const { start } = this;
    if (this.is('{')) return this.block();
    if (this.eat(';')) return this.node(start, 'EmptyStatement', {});
    if (this.kind === 'name' && this.end - start === this.token.length) {
      const found = this.#keyword(start, this.token);
      if (found !== undefined) return found;
    }
    const expression = this.expression();
    if (expression.type === 'Identifier' && this.lastEnd === expression.end && this.eat(':')) {
      const body = this.statement();
      return this.node(start, 'LabeledStatement', { label: expression, body });
    }
    this.semicolon();
    return this.node(start, 'ExpressionStatement', { expression });
  }

  #keyword(start: number, keyword: string): Tree | undefined {
    switch (keyword) {
      case 'var':
      case 'const':
        return this.#declaration(start);
      case 'let':
        return this.peek(() => this.#mayBeBound()) ? this.#declaration(start) : undefined;
      case 'function':
        return this.function(start, false, true);
      case 'async':
        if (!this.peek(() => this.is('function') && !this.newLine)) return undefined;
        this.next();
        return this.function(start, true, true);
      case 'class':
        return this.class('ClassDeclaration');
      case 'if':
        return this.#if(start);
      case 'for':
        return this.#for(start);
      case 'while':
      case 'with': {
        this.next();
        const test = this.#head();
        const body = this.statement();
        return this.node(start, keyword === 'while' ? 'WhileStatement' : 'WithStatement', {
          [keyword === 'while' ? 'test' : 'object']: test,
          body,
        });
      }
      case 'do': {
        this.next();
        const body = this.statement();
        this.expect('while');
        const test = this.#head();
        this.eat(';');
        return this.node(start, 'DoWhileStatement', { body, test });
      }
      case 'return':
      case 'throw': {
        this.next();
        const argument = this.#endsHere() ? null : this.expression();
        this.semicolon();
        return this.node(start, keyword === 'return' ? 'ReturnStatement' : 'ThrowStatement', { argument });
      }
      case 'break':
      case 'continue': {
        this.next();
        const label = this.#endsHere() ? null : this.name();
        this.semicolon();
        return this.node(start, keyword === 'break' ? 'BreakStatement' : 'ContinueStatement', { label });
      }
      case 'debugger':
        this.next();
        this.semicolon();
        return this.node(start, 'DebuggerStatement', {});
      case 'switch':
        return this.#switch(start);
      case 'try':
        return this.#try(start);
      default:
        return undefined;
    }
  }

  #endsHere(): boolean {
    return this.newLine || this.is(';') || this.is('}') || this.kind === 'end';
  }

  /** Whether the token begins what `let` declares. */
  #mayBeBound(): boolean {
    return (
      this.is('[') ||
      this.is('{') ||
      (this.kind === 'name' && !this.is('in') && !this.is('instanceof') && !this.is('of'))
    );
  }

  /** An expression in parentheses. */
  #head(): Tree {
    this.expect('(');
    const tree = this.expression();
    this.expect(')');
    return tree;
  }

  #binding(): Tree {
    return this.pattern(this.is('[') || this.is('{') ? this.primary() : this.name());
  }

  #variables(start: number, inFor: boolean): Tree {
    const kind = this.token;
    this.next();
    const declarations: Tree[] = [];
    do {
      const at = this.start;
      const id = this.#binding();
      const init = this.eat('=') ? this.assignment(inFor) : null;
      declarations.push(this.node(at, 'VariableDeclarator', { id, init }));
    } while (this.eat(','));
    return this.node(start, 'VariableDeclaration', { declarations, kind });
  }

  #declaration(start: number): Tree {
    const { declarations, kind } = this.#variables(start, false);
    this.semicolon();
    return this.node(start, 'VariableDeclaration', { declarations, kind });
  }

  #if(start: number): Tree {
    this.next();
    const test = this.#head();
    const consequent = this.statement();
    const alternate = this.eat('else') ? this.statement() : null;
    return this.node(start, 'IfStatement', { test, consequent, alternate });
  }

  #for(start: number): Tree {
    this.next();
    const isAwait = this.eat('await');
    this.expect('(');
    const at = this.start;
    const declares =
      this.is('var') || this.is('const') || (this.is('let') && this.peek(() => this.#mayBeBound() || this.is('of')));
    let init: Tree | null = null;
    if (declares) init = this.#variables(at, true);
    else if (!this.is(';')) init = this.expression(true);
    const each = this.is('of') ? 'ForOfStatement' : this.is('in') ? 'ForInStatement' : undefined;
    if (each !== undefined && init !== null) {
      this.next();
      const left = declares ? init : this.pattern(init);
      const right = each === 'ForOfStatement' ? this.assignment() : this.expression();
      this.expect(')');
      const body = this.statement();
      return this.node(start, each, { ...(each === 'ForOfStatement' ? { await: isAwait } : {}), left, right, body });
    }
    this.expect(';');
    const test = this.is(';') ? null : this.expression();
    this.expect(';');
    const update = this.is(')') ? null : this.expression();
    this.expect(')');
    const body = this.statement();
    return this.node(start, 'ForStatement', { init, test, update, body });
  }

  #switch(start: number): Tree {
    this.next();
    const discriminant = this.#head();
    this.expect('{');
    const cases: Tree[] = [];
    while (!this.eat('}')) {
      const at = this.start;
      const isDefault = this.eat('default');
      if (!isDefault) this.expect('case');
      const test = isDefault ? null : this.expression();
      this.expect(':');
      const consequent: Tree[] = [];
      while (!this.is('case') && !this.is('default') && !this.is('}')) consequent.push(this.statement());
      cases.push(this.node(at, 'SwitchCase', { consequent, test }));
    }
    return this.node(start, 'SwitchStatement', { discriminant, cases });
  }

  #try(start: number): Tree {
    this.next();
    const block = this.block();
    const at = this.start;
    let handler: Tree | null = null;
    if (this.eat('catch')) {
      let param: Tree | null = null;
      if (this.eat('(')) {
        param = this.#binding();
        this.expect(')');
      }
      const body = this.block();
      handler = this.node(at, 'CatchClause', { param, body });
    }
    const finalizer = this.eat('finally') ? this.block() : null;
    return this.node(start, 'TryStatement', { block, handler, finalizer });
  }
}
