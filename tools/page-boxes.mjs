/**
 * Makes objects with one property of variables that would keep code from being taken out (`page-regions.mjs`), because it assigns to them, or others do meanwhile: what is given the object sees the same
 * as all others.
 */
import { parse } from 'acorn';

/** What a variable must be worth, by what it keeps from being taken out, and what each mention of it adds. */
const LEAST = 80;
const OF_MENTION = 5;

/** The module with these variables boxed, and what of its characters is not reached; `kept` has for each how much it keeps. Undefined where none is worth it. */
export function withBoxes({ text, body }, unreached, kept) {
  const places = placesOf(body);
  const edits = [];
  for (const [{ at, name, kind, reads }, size] of kept) {
    const declared = places.declared.get(at);
    const isWorth = size >= LEAST + OF_MENTION * reads.length;
    if (kind !== 'let' || declared === undefined || !isWorth || reads.some((each) => places.called.has(each.at)))
      continue;
    const { declaration, init } = declared;
    edits.push([declaration.start, declaration.start + 'let'.length, 'const']);
    if (init === null) edits.push([at + name.length, at + name.length, ' = { _: void 0 }']);
    else edits.push([init.start, init.start, '{ _: '], [init.end, init.end, ' }']);
    for (const { at: mention } of reads) {
      const instead = places.short.has(mention) ? `${name}: ${name}._` : `${name}._`;
      edits.push([mention, mention + name.length, instead]);
    }
  }
  if (edits.length === 0) return undefined;
  edits.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const pieces = [];
  const marks = [];
  let from = 0;
  const add = (piece, mark) => {
    pieces.push(piece);
    marks.push(mark);
  };
  for (const [start, end, instead] of edits) {
    add(text.slice(from, start), unreached.subarray(from, start));
    add(instead, new Uint8Array(instead.length).fill(unreached[start]));
    from = end;
  }
  add(text.slice(from), unreached.subarray(from));
  const boxed = pieces.join('');
  const all = new Uint8Array(boxed.length);
  let to = 0;
  for (const mark of marks) {
    all.set(mark, to);
    to += mark.length;
  }
  return { text: boxed, body: parse(boxed, { ecmaVersion: 'latest', sourceType: 'module' }).body, unreached: all };
}

/** Where variables are declared by themselves, in statements; which names are called, and which are the keys of what they give, too. */
function placesOf(body) {
  const found = { declared: new Map(), called: new Set(), short: new Set() };
  const visit = (node, parent) => {
    if (Array.isArray(node)) for (const each of node) visit(each, parent);
    if (typeof node?.type !== 'string') return;
    const isStatement = parent?.type === 'BlockStatement' || parent?.type === 'SwitchCase';
    if (node.type === 'VariableDeclaration' && isStatement && node.declarations.length === 1) {
      const [{ id, init }] = node.declarations;
      if (id.type === 'Identifier') found.declared.set(id.start, { declaration: node, init });
    }
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') found.called.add(node.callee.start);
    if (node.type === 'Property' && node.shorthand) found.short.add(node.start);
    for (const child of Object.values(node)) if (typeof child === 'object') visit(child, node);
  };
  visit(body, undefined);
  return found;
}
