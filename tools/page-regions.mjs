/**
 * Takes out of the functions of a module what runs have not been seen to reach: branches that few kernels take, errors and their texts. Each such region becomes a function at the top of the module,
 * which `page-parts.mjs` can move, and a call of it stands in its place.
 *
 * A region is the body of a function, a run of statements or an operand. It is taken out only where that changes nothing: where it reads no variable that changes while it runs, and assigns to none that
 * others see. What it assigns is given back and assigned again; where it leaves by `return`, `break` or `continue` and goes on elsewhere, it says so, and the same is done in its place.
 */
import MagicString from 'magic-string';
import { Analysis, completes } from './page-analysis.mjs';
import { withBoxes } from './page-boxes.mjs';

/** What remains in the place of a region has some twenty characters, and what a part exports costs more. */
const LEAST = 20;
const MOST_PARAMETERS = 12;
/** The same for a whole method, which is given its parameters as they are. */
const LEAST_OF_METHOD = 60;
/** What is written for each variable that is given back, for saying how a region is left, and for giving back a value with that. */
const OF_WRITTEN = 5;
const OF_LEAVING = 14;
const OF_VALUE = 26;

/** Names of regions, which are no others'. */
export const REGION = /^region\$\d+$/;
let regions = 0;
/** What the class of the error is called in divided modules that says that a part is missing. */
export const MISSING = 'MissingPart$';

/** The module's text with its regions as functions at its end; `unreached` has a 1 for each character that was not reached. */
export function withRegions(module, unreached) {
  const kept = new Map();
  const plain = taken(module, unreached, kept);
  const boxed = kept.size > 0 ? withBoxes(module, unreached, kept) : undefined;
  return boxed === undefined ? plain : taken(boxed, boxed.unreached, new Map());
}

/** The same; `kept` is given how long the code is that each variable keeps from being taken out. */
function taken({ text, body }, unreached, kept) {
  const code = new MagicString(text);
  const analysis = new Analysis(body);
  const made = [];
  const isUnreached = ({ start, end }) => unreached[start] === 1 && unreached.indexOf(0, start) >= end;
  /** Functions that `page-parts.mjs` moves whole. */
  const isMovedWhole = (node) => node.type === 'FunctionDeclaration' && isUnreached(node);

  const take = (region) => {
    const found = analysis.parametersOf(region);
    if (found === undefined) keep(region);
    if (found === undefined || found.names.length > (region.method ? 0 : MOST_PARAMETERS)) return false;
    const { written, exits } = found;
    const leaving = exits.length === 0 ? 0 : exits.some(hasValue) ? OF_VALUE : OF_LEAVING;
    const least = region.method ? LEAST_OF_METHOD : LEAST;
    if (found.size < least + 4 * found.names.length + OF_WRITTEN * written.length + leaving) return false;
    const name = `region$${++regions}`;
    const ways = [...new Set(exits.filter((node) => !hasValue(node)).map(wayOf))];
    const within = (nodes) => textOf(nodes, found.selves, exits, ways);
    const own = found.selves.length > 0 || region.method !== undefined;
    const names = own ? ['self', ...found.names] : found.names;
    const values = own ? ['this', ...found.names] : found.names;
    const back = written.length > 1 ? `[${written.join(', ')}]` : written.join('');
    const body = region.contentOf?.(within) ?? within(region.nodes);
    const content = region.isOperand ? `return (${body});` : back === '' ? body : `${body}\nreturn ${back};`;
    if (region.method !== undefined) {
      const { params } = region.method;
      made.push(`function ${name}(self${params.length > 0 ? `, ${within(params)}` : ''}) {\n${content}\n}\n`);
      replace(region.method, `(...args) { return ${name}(this, ...args); }`);
      return true;
    }
    made.push(`function ${name}(${names.join(', ')}) {\n${content}\n}\n`);
    const call = `${name}(${values.join(', ')})`;
    const instead = region.isOperand
      ? call
      : exits.length > 0
        ? left(call, ways, exits.some(hasValue))
        : found.returns
          ? `return ${call};`
          : `${back === '' ? '' : `${back} = `}${call};`;
    if (region.put !== undefined) region.put(instead);
    else replace({ start: region.nodes[0].start, end: region.nodes.at(-1).end }, instead);
    return true;
  };

  /** Notes what keeps a region, unless that is within one that has been noted. */
  let keptTo = 0;
  const keep = ({ nodes }) => {
    const [{ start }] = nodes;
    const { end } = nodes.at(-1);
    if (start < keptTo || !analysis.keeping.length || analysis.keeping.some(({ kind }) => kind !== 'let')) return;
    keptTo = end;
    for (const variable of analysis.keeping) kept.set(variable, (kept.get(variable) ?? 0) + (end - start) / 2);
  };

  /** Puts code in the place of other code, whose lines stay where they are. */
  const replace = ({ start, end }, instead) =>
    code.overwrite(start, end, instead + text.slice(start, end).replaceAll(/[^\n]/g, ''));

  /** The text of nodes as it is in a region: with its `this`, and left as that says. */
  const textOf = (nodes, selves, exits, ways) => {
    const { start } = nodes[0];
    const { end } = nodes.at(-1);
    const inside = new MagicString(text.slice(start, end));
    for (const at of selves)
      if (at >= start && at < end) inside.overwrite(at - start, at - start + 'this'.length, 'self');
    for (const node of exits) {
      if (node.start < start || node.start >= end) continue;
      const [from, to] = [node.start - start, node.end - start];
      if (!hasValue(node)) inside.overwrite(from, to, `return ${ways.indexOf(wayOf(node)) + 1};`);
      else {
        inside.appendLeft(from + 'return'.length, ' [');
        inside.appendRight(text[node.end - 1] === ';' ? to - 1 : to, ']');
      }
    }
    return `${inside}`;
  };

  /** Takes out a method whole, with its parameters. */
  const takeMethod = ({ value }) => {
    const { params, body } = value;
    const nodes = [...params, ...body.body];
    return body.body.length > 0 && take({ nodes, of: value, method: value, contentOf: (within) => within(body.body) });
  };

  /** Takes out the cases of a switch that are not reached, all as one that stands for the others. */
  const takeCases = (node, isLast) => {
    const { discriminant, cases } = node;
    if (!isPlace(discriminant)) return [];
    const regionOf = (taken) => ({
      nodes: [discriminant, ...taken],
      within: [{ ...node, cases: taken }],
      isLast,
      contentOf: (within) =>
        `switch (${within([discriminant])}) {\n${taken.map((each) => within([each])).join('\n')}\n}`,
      put: (instead) => {
        for (const each of taken) replace(each, ' ');
        const last = cases.at(-1);
        const before = taken.includes(last) || leaves(last.consequent) ? '' : 'break; ';
        // Where all others go on behind the switch, that is not to ask for a part.
        const labels = taken.map(({ test }) => `case ${test && text.slice(test.start, test.end)}:`).join(' ');
        const isWhole = taken.some(({ test }) => test === null);
        code.appendLeft(last.end, `${before}${isWhole ? 'default:' : labels} ${instead}`);
      },
    });
    const groups = groupsOf(cases).filter(
      (group) =>
        group.ends &&
        group.cases.every(isPlainCase) &&
        group.cases.at(-1).consequent.every(isUnreached) &&
        analysis.parametersOf(regionOf(group.cases)) !== undefined,
    );
    const taken = groups.flatMap((group) => group.cases);
    if (groups.length < 2) return [];
    return take(regionOf(taken)) ? taken : [];
  };

  const visit = (node, parent) => {
    if (Array.isArray(node)) {
      if (node.length > 0 && parent !== undefined && isStatements(node, parent)) visitStatements(node, parent);
      else for (const each of node) visit(each, parent);
      return;
    }
    if (typeof node?.type !== 'string') return;
    if (isOperand(node, parent) && isUnreached(node) && take({ nodes: [node], isOperand: true })) return;
    if (isMethod(node) && isUnreached(node.value) && takeMethod(node)) return;
    if (node.type === 'SwitchStatement') {
      visit(node.discriminant, node);
      const taken = takeCases(node, analysis.functionOf(parent) !== undefined && parent.body.at(-1) === node);
      for (const each of node.cases) if (!taken.includes(each)) visit(each, node);
      return;
    }
    for (const [key, child] of Object.entries(node)) {
      if (typeof child !== 'object' || child === null) continue;
      const isAlone = (key === 'consequent' || key === 'alternate') && node.type === 'IfStatement';
      if (isAlone && child.type !== 'BlockStatement' && isUnreached(child) && take({ nodes: [child] })) continue;
      visit(child, node);
    }
  };
  const visitStatements = (nodes, parent) => {
    // Who catches errors lets pass what says that a part is missing before any part is asked for.
    const from = nodes.findIndex((node) => isUnreached(node) && !letsPass(node));
    for (const [k, node] of nodes.entries()) {
      if (k < from || from < 0) visit(node, parent);
    }
    if (from < 0) return;
    const run = nodes.slice(from);
    const fn = analysis.functionOf(parent);
    const one = (node) => ({ nodes: [node], isLast: fn !== undefined && node === run.at(-1) });
    if (run.every(isUnreached)) {
      if (run.length > 1 && /^(?:Break|Continue)/.test(run.at(-1).type) && take({ nodes: run.slice(0, -1) })) return;
      if (take({ nodes: run, of: from === 0 ? fn : undefined, isLast: fn !== undefined })) return;
      for (const node of run) if (run.length === 1 || !take(one(node))) visit(node, parent);
    } else for (const node of run) if (!isUnreached(node) || !take(one(node))) visit(node, parent);
  };
  for (const node of body) if (!isMovedWhole(node)) visit(node, undefined);
  if (made.length === 0) return text;
  // Behind what there is, so that lines stay where they are.
  return `${code}`.replace(/(?=\/\/# sourceMappingURL=|$(?![\s\S]))/, () => `\n${made.join('')}`);
}

/** Whether an expression only names a variable or a property. */
const isPlace = (node) =>
  node.type === 'Identifier' ||
  node.type === 'ThisExpression' ||
  (node.type === 'MemberExpression' && !node.computed && isPlace(node.object));

const isPlainCase = ({ test }) => test === null || test.type === 'Literal';

const isMethod = ({ type, kind, computed, value }) =>
  type === 'MethodDefinition' && kind === 'method' && !computed && !value.async && !value.generator;

/** Whether statements do not go on behind them. */
const leaves = (nodes) => {
  const last = nodes.at(-1);
  if (last?.type === 'BlockStatement') return leaves(last.body);
  return last !== undefined && (/^(?:Break|Continue)/.test(last.type) || !completes(last));
};

/** Cases with what they share: those that have nothing lead to the next. Also whether the one before and they themselves do not go on with what follows. */
function groupsOf(cases) {
  const groups = [];
  let open = [];
  for (const each of cases) {
    open.push(each);
    if (each.consequent.length === 0) continue;
    const { isLeft = true } = groups.at(-1) ?? {};
    const isDone = leaves(each.consequent);
    groups.push({ cases: open, isLeft: isDone, ends: isLeft && (isDone || each === cases.at(-1)) });
    open = [];
  }
  return groups;
}

/** Whether a statement is what `page-parts.mjs` puts at the beginning of what catches errors. */
const letsPass = ({ type, test }) => type === 'IfStatement' && test.right?.name === MISSING;

const hasValue = ({ type, argument }) => type === 'ReturnStatement' && argument !== null;
/** How a statement leaves what is around it. */
const wayOf = ({ type, label }) => `${type.replace('Statement', '').toLowerCase()}${label ? ` ${label.name}` : ''}`;

/** Does in the place of a region what it says: it gives the number of a way, a value to return as the only item of an array, or nothing. */
function left(call, ways, returns) {
  if (!returns && ways.length === 1) return `if (${call}) ${ways[0]};`;
  const lines = ways.map((way, k) => `if (left$ === ${k + 1}) ${way};`);
  if (returns) lines.push('if (left$) return left$[0];');
  return `{ const left$ = ${call}; ${lines.join(' ')} }`;
}

const isStatements = (nodes, { type, body, consequent }) =>
  (type === 'BlockStatement' && body === nodes) || (type === 'SwitchCase' && consequent === nodes);

/** Whether an expression is one that V8 counts by itself. */
function isOperand(node, parent) {
  switch (parent?.type) {
    case 'ConditionalExpression':
      return node !== parent.test;
    case 'LogicalExpression':
      return node === parent.right;
    case 'ArrowFunctionExpression':
      return node === parent.body && node.type !== 'BlockStatement' && !parent.async;
    default:
      return false;
  }
}
