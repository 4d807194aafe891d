/**
 * Walks that forget an operand do not compile: the type checker is what runs most of this file (`npm run check:types`).
 */
import { describe, expect, it } from 'vitest';
import type { InnerLists, ListFields, OperandFields, Operands } from './fields.ts';

interface Leaf {
  readonly op: 'leaf';
}
interface Memory {
  readonly index: Node;
}
/** As if somebody had added ops of three operands, `fsh` and `bfe`, to a tree of sums. */
type Node =
  | Leaf
  | { readonly op: 'sum'; readonly a: Node; readonly b: Node }
  | { readonly op: 'fsh'; readonly a: Node; readonly b: Node; readonly count: Node }
  | { readonly op: 'bfe'; readonly a: Node; readonly b: Node; readonly width: Node; readonly pos: number }
  | { readonly op: 'load'; readonly mem: Memory }
  | { readonly op: 'call'; readonly args: readonly Node[]; readonly name: string };
type Statement =
  | { readonly op: 'vote'; readonly pred?: Node | undefined }
  | {
      readonly op: 'if';
      readonly cond: Node;
      readonly then: readonly Statement[];
      readonly else: readonly Statement[];
    };

interface Tree {
  readonly expr: Node;
  readonly memory: Memory;
  readonly stmt: Statement;
}

function operands(e: Node): readonly Node[] {
  switch (e.op) {
    case 'leaf':
      return [] satisfies Operands<typeof e, Tree>;
    case 'sum':
      return [e.a, e.b] satisfies Operands<typeof e, Tree>;
    case 'fsh':
      // @ts-expect-error: the count is forgotten.
      return [e.a, e.b] satisfies Operands<typeof e, Tree>;
    case 'bfe':
      return [e.a, e.b, e.width] satisfies Operands<typeof e, Tree>;
    case 'load':
      // @ts-expect-error: what an access evaluates is not to be counted by the node: it is named.
      return [] satisfies Operands<typeof e, Tree>;
    case 'call':
      return ({ args: e.args } satisfies OperandFields<typeof e, Tree>).args;
  }
}

// @ts-expect-error: an op without its case.
function incomplete(e: Node): readonly Node[] {
  switch (e.op) {
    case 'leaf':
    case 'load':
    case 'call':
      return [];
    case 'sum':
    case 'fsh':
      // @ts-expect-error: one has an operand more than the other.
      return [e.a, e.b] satisfies Operands<typeof e, Tree>;
  }
}

function rebuilt(e: Node & { op: 'bfe' | 'load' | 'call' }): object {
  // @ts-expect-error: the width is forgotten.
  if (e.op === 'bfe') return { a: e.a, b: e.b } satisfies OperandFields<typeof e, Tree>;
  // @ts-expect-error: the access is forgotten.
  if (e.op === 'load') return {} satisfies OperandFields<typeof e, Tree>;
  return { args: e.args } satisfies OperandFields<typeof e, Tree>;
}

function lists(s: Statement): readonly (readonly Statement[])[] {
  // @ts-expect-error: the else part is forgotten.
  if (s.op === 'if') return [s.then] satisfies InnerLists<typeof s, Tree>;
  return [] satisfies InnerLists<typeof s, Tree>;
}

function named(s: Statement): object {
  // @ts-expect-error: the else part is forgotten.
  if (s.op === 'if') return { then: s.then } satisfies ListFields<typeof s, Tree>;
  // @ts-expect-error: an operand that may be absent has its name all the same.
  return {} satisfies OperandFields<typeof s, Tree>;
}

describe('the types of walks', () => {
  const leaf: Node = { op: 'leaf' };

  it('let a walk that names all operands compile, and find them', () => {
    expect(operands({ op: 'bfe', a: leaf, b: { op: 'sum', a: leaf, b: leaf }, width: leaf, pos: 3 })).toHaveLength(3);
    expect(operands({ op: 'call', args: [leaf, leaf], name: 'f' })).toHaveLength(2);
  });

  it('are needed: walks that were let through lose operands', () => {
    expect(operands({ op: 'fsh', a: leaf, b: leaf, count: leaf })).toHaveLength(2);
    expect(incomplete({ op: 'bfe', a: leaf, b: leaf, width: leaf, pos: 0 })).toBeUndefined();
    expect(rebuilt({ op: 'bfe', a: leaf, b: leaf, width: leaf, pos: 0 })).not.toHaveProperty('width');
    expect(lists({ op: 'if', cond: leaf, then: [], else: [] })).toHaveLength(1);
    expect(named({ op: 'vote', pred: leaf })).toEqual({});
  });
});
