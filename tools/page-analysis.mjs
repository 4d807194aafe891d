/**
 * Variables of a module below its top, and what a function must be given that stands in the place of some of its code (`page-regions.mjs`).
 */
export const isFunction = ({ type }) =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';

/** Keys of nodes under which stand names that name no variable. */
const isName = (node, key) => key === 'label' || ((key === 'property' || key === 'key') && !node.computed);

/** Calls `visit` for each node within a node. */
export function eachChild(node, visit) {
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== 'object' || child === null || (isName(node, key) && child.type !== 'PrivateIdentifier'))
      continue;
    if (Array.isArray(child)) {
      for (const each of child) if (typeof each?.type === 'string') visit(each, key);
    } else if (typeof child.type === 'string') visit(child, key);
  }
}

/** The identifiers that a pattern declares. */
function declaredIn(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern];
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => declaredIn(each.value ?? each.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(declaredIn);
    case 'AssignmentPattern':
      return declaredIn(pattern.left);
    case 'RestElement':
      return declaredIn(pattern.argument);
    default:
      return [];
  }
}

/** Variables that are declared below the top of a module, and who reads and writes them. */
export class Analysis {
  /** What an identifier means; undefined for what the module or the realm has. */
  #meaning = new Map();
  #declarations = new Set();
  #bodies = new Map();
  #variables = [];
  #tries = [];
  /** The variables for which there were no parameters when they were last asked for. */
  keeping = [];

  constructor(body) {
    for (const node of body) this.#scan(node, { names: new Map(), isTop: true, fn: undefined }, undefined);
  }

  get names() {
    return new Set(this.#variables.map(({ name }) => name));
  }

  /** The function whose body a block is. */
  functionOf(block) {
    return this.#bodies.get(block);
  }

  #declare(scope, identifier, kind, ready) {
    this.#declarations.add(identifier);
    if (scope.isTop) return;
    const known = scope.names.get(identifier.name);
    if (known !== undefined) return;
    const variable = { name: identifier.name, kind, at: identifier.start, ready, fn: scope.fn, writes: [], reads: [] };
    scope.names.set(identifier.name, variable);
    this.#variables.push(variable);
  }

  /** Declares what stands in a list of statements, before any of it is read. Of constants in a row that are functions none runs before all are there. */
  #hoist(nodes, scope) {
    let row;
    for (const node of nodes) {
      const isOfFunctions =
        node.type === 'VariableDeclaration' && node.declarations.every(({ init }) => init && isFunction(init));
      row = isOfFunctions ? (row ?? node.start) : undefined;
      if (node.type === 'VariableDeclaration' && node.kind !== 'var') {
        for (const each of node.declarations)
          for (const id of declaredIn(each.id)) this.#declare(scope, id, node.kind, row ?? each.end);
      } else if (node.type === 'FunctionDeclaration') this.#declare(scope, node.id, 'function', 0);
      else if (node.type === 'ClassDeclaration') this.#declare(scope, node.id, 'class', node.end);
    }
  }

  /** Declares the `var`s of a function. */
  #hoistVars(node, scope) {
    if (node.type === 'VariableDeclaration' && node.kind === 'var') {
      for (const { id } of node.declarations) for (const each of declaredIn(id)) this.#declare(scope, each, 'var', 0);
    }
    eachChild(node, (child) => {
      if (!isFunction(child)) this.#hoistVars(child, scope);
    });
  }

  #scan(node, scope, fn) {
    const inner = (names = new Map(), of = fn) => ({ names, parent: scope, fn: of });
    const all = (within, of = fn) => eachChild(node, (child) => this.#scan(child, within, of));
    if (isFunction(node)) {
      const own = inner(new Map(), node);
      if (node.type === 'FunctionExpression' && node.id) this.#declare(own, node.id, 'function', 0);
      for (const param of node.params) for (const id of declaredIn(param)) this.#declare(own, id, 'param', 0);
      if (node.body.type === 'BlockStatement') {
        this.#bodies.set(node.body, node);
        this.#hoistVars(node.body, own);
        this.#hoist(node.body.body, own);
      }
      for (const param of node.params) this.#scan(param, own, node);
      if (node.body.type === 'BlockStatement') for (const each of node.body.body) this.#scan(each, own, node);
      else this.#scan(node.body, own, node);
      return;
    }
    switch (node.type) {
      case 'Identifier':
        return this.#refer(node, scope, fn);
      case 'BlockStatement':
      case 'StaticBlock': {
        const own = inner();
        this.#hoist(node.body, own);
        return all(own);
      }
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement': {
        const own = inner();
        const head = node.init ?? node.left;
        if (head?.type === 'VariableDeclaration') this.#hoist([head], own);
        all(own);
        if (node.type !== 'ForStatement') for (const id of declaredIn(head)) this.#write(id, own, fn);
        return;
      }
      case 'SwitchStatement': {
        const own = inner();
        this.#hoist(
          node.cases.flatMap(({ consequent }) => consequent),
          own,
        );
        return all(own);
      }
      case 'TryStatement':
        this.#tries.push(node);
        return all(scope);
      case 'CatchClause': {
        const own = inner();
        for (const id of declaredIn(node.param)) this.#declare(own, id, 'let', 0);
        return all(own);
      }
      case 'ClassExpression':
      case 'ClassDeclaration': {
        const own = inner();
        if (node.id && !scope.isTop) this.#declare(own, node.id, 'class', node.end);
        return all(own);
      }
      case 'PropertyDefinition':
        if (node.computed) this.#scan(node.key, scope, fn);
        // It runs when an instance is made.
        if (node.value) this.#scan(node.value, inner(new Map(), node), node);
        return;
      case 'AssignmentExpression':
        all(scope);
        for (const id of declaredIn(node.left)) this.#write(id, scope, fn);
        return;
      case 'UpdateExpression':
        all(scope);
        for (const id of declaredIn(node.argument)) this.#write(id, scope, fn);
        return;
      default:
        return all(scope);
    }
  }

  #find(name, scope) {
    for (let at = scope; at !== undefined; at = at.parent) {
      const found = at.names.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #refer(node, scope, fn) {
    if (this.#declarations.has(node)) return;
    const variable = this.#find(node.name, scope);
    this.#meaning.set(node, variable);
    variable?.reads.push({ at: node.start, fn });
  }

  #write({ name, start }, scope, fn) {
    this.#find(name, scope)?.writes.push({ at: start, fn });
  }

  /**
   * What a function in the place of these nodes must be given: names of variables, and where `this` is. Also about how long its text is when it is minified, which variables it gives back, how it is left
   * if that is not always by `return`, and whether it is. Undefined where there can be none. `of`: the function whose body the nodes are; `isLast`: whether nothing stands behind them in one.
   */
  parametersOf({ nodes, within = nodes, isOperand = false, of, isLast = false }) {
    this.keeping = [];
    const [{ start }] = nodes;
    const isInside = (at) => nodes.some((node) => at >= node.start && at < node.end);
    const outer = new Set();
    /** Those that functions within the region read. */
    const closed = new Set();
    const selves = [];
    let size = 0;
    let fits = true;
    const exits = [];
    // What jumps within the region: labels, and whether it is in a loop or a switch.
    const visit = (node, state) => {
      if (!fits) return;
      size += sizeOf(node);
      const { type } = node;
      const own = isFunction(node) && type !== 'ArrowFunctionExpression';
      const refused =
        type === 'Super' ||
        type === 'MetaProperty' ||
        type === 'PrivateIdentifier' ||
        type === 'YieldExpression' ||
        (type === 'AwaitExpression' && !state.inFunction) ||
        (/^For(?:In|Of)/.test(type) && (node.await || node.left.type !== 'VariableDeclaration')) ||
        (type === 'Identifier' && node.name === 'arguments' && !state.inOwn) ||
        (type === 'Identifier' && node.name === 'self');
      if (refused) fits = false;
      if (type === 'ThisExpression' && !state.inOwn) selves.push(node.start);
      if (type === 'ReturnStatement' && !state.inFunction) exits.push(node);
      if (type === 'BreakStatement' || type === 'ContinueStatement') {
        const stays = node.label
          ? state.labels.includes(node.label.name)
          : type === 'BreakStatement'
            ? state.breaks
            : state.loops;
        if (!stays) exits.push(node);
      }
      // What no scope here declares is the module's.
      if (type === 'AssignmentExpression' || type === 'UpdateExpression')
        fits &&= declaredIn(node.left ?? node.argument).every((id) => this.#meaning.get(id) !== undefined);
      if (type === 'Identifier') {
        const variable = this.#meaning.get(node);
        if (variable !== undefined && !isInside(variable.at)) {
          outer.add(variable);
          if (state.inFunction) closed.add(variable);
        }
      }
      let next = state;
      if (isFunction(node) || type === 'PropertyDefinition')
        next = {
          ...next,
          inFunction: true,
          inOwn: next.inOwn || own || type === 'PropertyDefinition',
          labels: [],
          breaks: false,
          loops: false,
        };
      if (/^(?:For|While|DoWhile)/.test(type)) next = { ...next, breaks: true, loops: true };
      if (type === 'SwitchStatement') next = { ...next, breaks: true };
      if (type === 'LabeledStatement') next = { ...next, labels: [...next.labels, node.label.name] };
      eachChild(node, (child) => visit(child, next));
    };
    const state = { inFunction: false, inOwn: false, labels: [], breaks: false, loops: false };
    for (const node of within) visit(node, state);
    if (!fits) return undefined;
    const returns = of !== undefined || (exits.length > 0 && exits.every(({ type }) => type === 'ReturnStatement'));
    const isDone = returns && (of !== undefined || isLast || !within.every(completes));
    const written = [];
    const isKept = (variable) => {
      if (variable.writes.some(({ at }) => isInside(at))) {
        if (variable.fn === of && variable.kind === 'param' && variable.writes.every(({ at }) => isInside(at)))
          return true;
        if (isOperand || variable.ready > start || !this.#isOwn(variable, start)) return false;
        // Nobody reads it any more.
        if (isDone || (isLast && exits.length === 0)) return true;
        written.push(variable.name);
        return exits.length === 0;
      }
      if (variable.ready > start) return false;
      if (variable.writes.length === 0) return true;
      return (
        !closed.has(variable) && variable.writes.every(({ fn }) => fn === variable.fn) && this.#isIn(variable, start)
      );
    };
    this.keeping = [...outer].filter((variable) => !isKept(variable));
    if (this.keeping.length > 0) return undefined;
    const inner = this.#variables.filter(({ at }) => isInside(at));
    if (inner.some(({ reads, writes }) => [...reads, ...writes].some(({ at }) => !isInside(at)))) return undefined;
    const names = [...outer].map(({ name }) => name);
    return { names, selves, size, written, returns: isDone, exits: isDone ? [] : exits };
  }

  /** Whether a variable is read and written by its function alone, in which the place is, and by nothing that catches an error of the place. */
  #isOwn(variable, place) {
    const { reads, writes, fn, at } = variable;
    return (
      [...reads, ...writes].every((each) => each.fn === fn) &&
      this.#isIn(variable, place) &&
      !this.#tries.some(({ start, end }) => start <= place && place < end && at < start)
    );
  }

  /** Whether a place is in the function itself of a variable, and in none within it. */
  #isIn({ fn }, at) {
    let innermost;
    for (const body of this.#functions()) {
      if (body.start <= at && at < body.end && (innermost === undefined || body.start > innermost.start))
        innermost = body;
    }
    return innermost === fn;
  }

  #all;
  #functions() {
    this.#all ??= [
      ...new Set([...this.#meaning.values()].flatMap((variable) => variable?.reads.map(({ fn }) => fn) ?? [])),
    ].filter((fn) => fn !== undefined);
    return this.#all;
  }
}

/** About how long a node is in minified code, without the nodes within it. */
function sizeOf({ type, name, value, raw, key, property, computed, kind }) {
  const named = (computed ? undefined : (key ?? property))?.name?.length ?? 0;
  switch (type) {
    case 'Identifier':
      return Math.min(name.length, 2);
    case 'Literal':
      return raw.length;
    case 'TemplateElement':
      return value.raw.length + 2;
    case 'ReturnStatement':
    case 'ThrowStatement':
      return 6;
    case 'VariableDeclaration':
      return kind.length;
    default:
      return named + 2;
  }
}

/** Whether what follows a statement may be reached. */
export function completes(node) {
  switch (node?.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
      return false;
    case 'BlockStatement':
      return node.body.every(completes);
    case 'IfStatement':
      return node.alternate === null || completes(node.consequent) || completes(node.alternate);
    case 'TryStatement':
      if (node.finalizer && !completes(node.finalizer)) return false;
      return completes(node.block) || (node.handler ? completes(node.handler.body) : false);
    case 'SwitchStatement': {
      const isWhole = node.cases.some(({ test }) => test === null);
      const last = node.cases.at(-1);
      return !isWhole || last === undefined || last.consequent.every(completes) || hasBreak(node.cases);
    }
    default:
      return true;
  }
}

/** Whether something leaves a statement around it. */
function hasBreak(nodes) {
  return nodes.some((node) => {
    let found = false;
    const visit = (at) => {
      if (at.type === 'BreakStatement') found = true;
      if (!isFunction(at)) eachChild(at, visit);
    };
    visit(node);
    return found;
  });
}
