/**
 * Symbols of the kernel being lowered: variables for live ranges, array symbols for roots, parameters for what the launch gives.
 * Each is made when it is first used, so that unused arguments and extents cost nothing.
 */
import { ownValue } from '../../options.ts';
import {
  type ArraySym,
  ELEM_SIZE,
  type ElemType,
  type Expr,
  type Param,
  type ParamOrigin,
  type ValueType,
  type Var,
} from '../ir/ops.ts';
import type { Range, Root, ScalarArg, TExpr, TMem } from '../types/tree.ts';
import { packValues } from './constant-data.ts';

/** By what equal origins are found. */
function keyOf(origin: ParamOrigin): string {
  switch (origin.kind) {
    case 'base':
    case 'value':
      return `${origin.kind} ${origin.path}`;
    case 'extent':
      return `extent ${origin.path} ${origin.axis}`;
    case 'stride':
      return `stride ${origin.path} ${origin.axis} ${origin.unit}`;
    case 'capturedBase':
      return `captured ${origin.capture}`;
  }
}

export class Symbols {
  readonly indexBits: 32 | 64;
  readonly params: Param[] = [];
  readonly arrays: ArraySym[] = [];
  readonly vars: Var[] = [];
  readonly #varOf = new Map<Range, Var>();
  readonly #tables = new Map<ArraySym, ArraySym>();
  readonly #arrayOf = new Map<Root, ArraySym>();
  readonly #paramOf = new Map<string, Param>();
  readonly #typeOfRange: (r: Range) => ValueType;

  constructor(indexBits: 32 | 64, typeOfRange: (r: Range) => ValueType) {
    this.indexBits = indexBits;
    this.#typeOfRange = typeOfRange;
  }

  fresh(name: string, type: ValueType): Var {
    const v: Var = { id: this.vars.length, name, type };
    this.vars.push(v);
    return v;
  }

  /** Shared memory of the compiler's own. */
  shared(name: string, elem: ElemType, length: number): ArraySym {
    const a: ArraySym = {
      id: this.arrays.length,
      name,
      space: 'shared',
      elem,
      param: undefined,
      length,
      dynamic: undefined,
      data: undefined,
      align: Math.max(ELEM_SIZE[elem], 4),
    };
    this.arrays.push(a);
    return a;
  }

  ofRange(range: Range): Var {
    let v = this.#varOf.get(range);
    if (v === undefined) {
      v = this.fresh(range.local.name, this.#typeOfRange(range));
      this.#varOf.set(range, v);
    }
    return v;
  }

  variable(e: Extract<TExpr, { k: 'local' }>): Var {
    if (e.range === undefined) throw new Error(`${e.local.name} has no live range`);
    return this.ofRange(e.range);
  }

  /** The type of an array's elements, which inference has decided where it was open. */
  elemOf(root: Root): ElemType {
    return root.open === undefined ? root.elem : this.#typeOfRange(root.open);
  }

  /** The reference to an element, in bytes where it counted elements of an open type. */
  typed(mem: TMem): TMem {
    if (mem.root.open === undefined) return mem;
    const elem = this.elemOf(mem.root);
    const size = ELEM_SIZE[elem];
    return { ...mem, elem, unit: mem.unit * size, disp: mem.disp * size, align: size };
  }

  array(root: Root): ArraySym {
    let a = this.#arrayOf.get(root);
    if (a === undefined) {
      const param = root.from === undefined ? undefined : this.#base(root).index;
      a = {
        id: this.arrays.length,
        name: root.name,
        space: root.space,
        elem: this.elemOf(root),
        param,
        length: root.length,
        dynamic: root.dynamic,
        data:
          root.values === undefined
            ? (ownValue(root, 'data') as Uint8Array | undefined)
            : packValues(root.values, this.elemOf(root), root.pos),
        align: Math.max(root.align ?? ELEM_SIZE[this.elemOf(root)], 4),
      };
      this.arrays.push(a);
      this.#arrayOf.set(root, a);
    }
    return a;
  }

  /** A table of a function's body as one of the kernel's constant arrays. */
  table(array: ArraySym): ArraySym {
    const known = this.#tables.get(array) ?? { ...array, id: this.arrays.length };
    if (!this.#tables.has(array)) this.arrays.push(known);
    this.#tables.set(array, known);
    return known;
  }

  #param(name: string, type: ValueType | 'ptr', origin: ParamOrigin): Param {
    const key = keyOf(origin);
    let p = this.#paramOf.get(key);
    if (p === undefined) {
      p = { index: this.params.length, name, type, origin };
      this.params.push(p);
      this.#paramOf.set(key, p);
    }
    return p;
  }

  #base(root: Root): Param {
    const { from } = root;
    if (from === undefined) throw new Error(`${root.name} has no base`);
    return 'path' in from
      ? this.#param(root.name, 'ptr', { kind: 'base', path: from.path })
      : this.#param(root.name, 'ptr', { kind: 'capturedBase', capture: from.capture });
  }

  #path(root: Root): readonly number[] {
    if (root.from === undefined || !('path' in root.from)) throw new Error(`${root.name} is no argument`);
    return root.from.path;
  }

  #read(p: Param): Expr {
    return { op: 'param', type: p.type === 'ptr' ? 'i64' : p.type, param: p.index };
  }

  extent(root: Root, axis: number): Expr {
    return this.#read(
      this.#param(`${root.name}.shape[${axis}]`, this.indexBits === 64 ? 'i64' : 'i32', {
        kind: 'extent',
        path: this.#path(root),
        axis,
      }),
    );
  }

  stride(root: Root, axis: number, unit: number): Expr {
    return this.#read(
      this.#param(`${root.name}.strides[${axis}]`, this.indexBits === 64 ? 'i64' : 'i32', {
        kind: 'stride',
        path: this.#path(root),
        axis,
        unit,
      }),
    );
  }

  scalar(arg: ScalarArg, type: ValueType): Expr {
    return this.#read(this.#param(arg.name, type, { kind: 'value', path: arg.path }));
  }
}
