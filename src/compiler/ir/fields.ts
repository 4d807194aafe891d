/**
 * Which fields of a tree's nodes hold operands and inner lists: types that make it an error to forget one in a walk.
 *
 * Walks are switches over all kinds of nodes, as fast as by hand. Each case says by `satisfies` that what it returns is all there
 * is: a new kind of node does not compile without its case, nor a new operand of an old one. `parts.ts` is written with them for
 * the IR, `types/parts.ts` for the tree before it.
 */

/** What the fields of a tree's nodes are made of. */
export interface TreeTypes {
  readonly expr: object;
  /** An access to memory, whose address is made of expressions. */
  readonly memory: object;
  readonly stmt: object;
}

type KeysOf<N, Held> = {
  [K in keyof N]-?: [Exclude<N[K], undefined>] extends [never]
    ? never
    : Exclude<N[K], undefined> extends Held
      ? K
      : never;
}[keyof N];

/** The fields that hold one operand; those that hold anything made of operands; those that hold statements. */
type Single<N, T extends TreeTypes> = KeysOf<N, T['expr']>;
type Operand<N, T extends TreeTypes> = KeysOf<N, T['expr'] | T['memory'] | readonly (T['expr'] | string)[]>;
type Inner<N, T extends TreeTypes> = KeysOf<N, readonly T['stmt'][]>;

type Intersection<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer I) => void ? I : never;
/** Some one member of a union: what overload resolution finds last. */
type Some<U> = Intersection<U extends unknown ? () => U : never> extends () => infer L ? L : never;
/** A tuple with as many elements as the union has members. */
type CountOf<U, Element, Counted extends readonly Element[] = []> = [U] extends [never]
  ? Counted
  : CountOf<Exclude<U, Some<U>>, Element, [...Counted, Element]>;

/**
 * The operands of a node, one after another. Where fields hold many, or perhaps none, nothing is of this type: they are named
 * (`OperandFields`). Of a union it is what all its members agree on.
 */
export type Operands<N, T extends TreeTypes> = Intersection<
  N extends unknown
    ? [Operand<N, T>] extends [Single<N, T>]
      ? undefined extends N[Operand<N, T>]
        ? 'name the operands'
        : CountOf<Operand<N, T>, T['expr']>
      : 'name the operands'
    : never
>;

/** The fields of a node that hold operands, all of them. */
export type OperandFields<N, T extends TreeTypes> = Intersection<
  N extends unknown ? { readonly [K in Operand<N, T>]: N[K] } : never
>;

/** The lists of statements inside a node, one after another. */
export type InnerLists<N, T extends TreeTypes> = Intersection<
  N extends unknown ? CountOf<Inner<N, T>, readonly T['stmt'][]> : never
>;

/** The fields of a node that hold lists of statements, all of them. */
export type ListFields<N, T extends TreeTypes> = Intersection<
  N extends unknown ? { readonly [K in Inner<N, T>]: N[K] } : never
>;
