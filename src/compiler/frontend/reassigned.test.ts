/**
 * Which variables get a second value, where several have one name, as after a minifier.
 */
import { type AnyNode, type Identifier, parse } from 'acorn';
import { expect, it } from 'vitest';
import { cuda, f32, type Vec } from '../../index.ts';
import { boundIdentifiers } from './free-variables.ts';
import { isReassigned } from './reassigned.ts';
import { walk } from './walk.ts';

/** The declarations of `x` in a function, in the order of the text: whether each is assigned again. */
function assigned(text: string): boolean[] {
  const program = parse(`(${text})`, { ecmaVersion: 'latest' });
  const root = (program.body[0] as AnyNode & { expression: AnyNode }).expression;
  const found = new Set<Identifier>();
  const add = (pattern: AnyNode): void => {
    for (const id of boundIdentifiers(pattern)) if (id.name === 'x') found.add(id);
  };
  walk(root, (one) => {
    const node = one as AnyNode;
    if (node.type === 'VariableDeclarator') add(node.id as AnyNode);
    if (/Function/.test(node.type)) for (const p of (node as { params?: AnyNode[] }).params ?? []) add(p);
    if (node.type === 'CatchClause' && node.param) add(node.param as AnyNode);
    return true;
  });
  return [...found].sort((a, b) => a.start - b.start).map((id) => isReassigned(root, id));
}

it.each<[string, boolean[]]>([
  ['(x) => { x = 1; }', [true]],
  ['(x) => { const f = (x) => { x++; }; f(x); }', [false, true]],
  ['(a) => { const f = (x) => x; for (let x = 0; x < 3; x++) f(x); }', [false, true]],
  ['(a) => { let x = 1; { let x = 2; x += a; } return x; }', [false, true]],
  ['(a) => { let x = 1; const f = () => { x = 2; }; f(); }', [true]],
  ['(a) => { for (const x of a) a[0] = x; for (let x of a) { x = 1; } }', [false, true]],
  ['(a) => { let x; x = 1; }', [true]],
  ['(a) => { let x; }', [true]],
  ['(a) => { var x = 1; if (a) var x = 2; }', [true, true]],
  ['(a) => { for (;;) { var x = 1; } }', [true]],
  ['(a) => { var x = 1; const f = () => { var x = 2; x++; }; }', [false, true]],
  ['({ x, y: [z] }) => { [x, z] = [z, x]; }', [true]],
  ['({ x = 1 }) => { ({ x: z } = 0); let z; }', [false]],
  ['(a) => { try {} catch (x) { x = 1; } const x = 2; }', [true, false]],
  ['(a) => { switch (a) { case 0: let x = 1; x = 2; } let x = 3; }', [true, false]],
  ['(a) => { let x = 1; for (x of a) ; }', [true]],
  ['(a) => { let x = 1; (function x() { x = 2; }); }', [false]],
])('%s', (text, expected) => {
  expect(assigned(text)).toEqual(expected);
});

it('knows what a parameter is while compiling, though a loop elsewhere assigns a variable of its name', () => {
  cuda.selectDevice('cpu');
  const side = { lanes: 4, each: [0, 1, 2, 3] };
  const kernel = cuda.jit((out: Vec<f32>) => {
    const vector = cuda.local.array(1, 'f32x4' as never) as unknown as { x: number }[];
    // A branch that would not compile is not there, as in what minifiers make of `for (let k …)`.
    const put = (s: typeof side): void => {
      if (s.lanes === 1) out[0] = f32(vector[0] as never);
      else for (const j of s.each) out[j] = j;
    };
    put(side);
    for (let s = 0; s < 2; s++) put(side);
  });
  const out = cuda.deviceArray(4, f32);
  kernel.launch({ threads: 1 }, out);
  expect([...out.copyToHost()]).toEqual([0, 1, 2, 3]);
});
