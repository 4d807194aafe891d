/**
 * What an expression of the source is to the front end: a scalar computed at run time, or one of the things that exist only
 * while compiling (a view of an array, a tuple, an object literal, a function, a value of the host).
 */

import { describeElement, type Element } from '../records.ts';
import type { Pos } from '../source.ts';
import type { Local, Root, TExpr, Via } from '../types/tree.ts';
import type { CapturedFunction, FunctionNode } from './captured.ts';

/** One axis of a view; strides are in units of the view's `unit` bytes. */
export interface Axis {
  readonly extent: TExpr;
  readonly stride: TExpr;
}

/** An array or a part of one: `root` memory, an offset into it and axes. */
export interface View {
  readonly root: Root;
  /** What is left when every axis has an index: a scalar, or a record whose members can be named. */
  readonly element: Element;
  readonly axes: readonly Axis[];
  /** In units; undefined is 0. */
  readonly offset: TExpr | undefined;
  readonly unit: number;
  /** Bytes from there to the first element: the offset of a member in its record. */
  readonly disp: number;
  /** What the addresses of elements, without `disp`, are multiples of. */
  readonly align: number;
  /** Bounds of indices already given (`A[i]`), tested when an element is accessed. */
  readonly checks: readonly { readonly index: TExpr; readonly extent: TExpr; readonly axis: number }[];
  /** How messages call it: `A`, `A[i]`. */
  readonly name: string;
  /** The axis of the root that the view's first axis is, for messages. */
  readonly firstAxis: number;
  /** Members from the root's element down to this. */
  readonly level: number;
  /** Set in a record that was named, and in parts of any: the name, and how far from its start this is. */
  readonly via?: Via | undefined;
}

export type Value =
  | { readonly kind: 'scalar'; readonly expr: TExpr }
  | { readonly kind: 'view'; readonly view: View }
  /** `axesOf`: of what array these are lengths or strides, one an axis. */
  | { readonly kind: 'tuple'; readonly items: readonly Value[]; readonly axesOf?: string }
  | { readonly kind: 'record'; readonly fields: ReadonlyMap<string, Value> }
  | { readonly kind: 'function'; readonly fn: FunctionValue }
  /** A value from outside the kernel: an intrinsic, a namespace, a dtype token, a string, undefined. */
  | { readonly kind: 'host'; readonly value: unknown; readonly name: string };

/** A function that can be called in a kernel: nested in it (`scope` set) or captured. */
export interface FunctionValue {
  readonly name: string;
  readonly node: FunctionNode;
  readonly captured: CapturedFunction;
  readonly scope: Scope | undefined;
}

/** A name in the kernel. */
export interface Binding {
  readonly name: string;
  readonly pos: Pos;
  /** Never assigned after its declaration: may stand for its value. */
  readonly constant: boolean;
  value: Value | undefined;
  /** Its declaration comes later: it may not be used yet. */
  ahead?: boolean;
  /** Depth of divergent constructs at which the structure of the value was bound. */
  depth: number;
}

/** A chain of block scopes. The outermost one of a function asks `captured` for what it does not have. */
export class Scope {
  readonly names: Map<string, Binding> = new Map();
  readonly parent: Scope | undefined;
  readonly captured: CapturedFunction;
  /** Where `var` and function declarations go. */
  readonly isFunction: boolean;
  constructor(parent: Scope | undefined, captured: CapturedFunction, isFunction: boolean) {
    this.parent = parent;
    this.captured = captured;
    this.isFunction = isFunction;
  }

  find(name: string): Binding | undefined {
    for (let s: Scope | undefined = this; s !== undefined; s = s.parent) {
      const b = s.names.get(name);
      if (b !== undefined) return b;
    }
    return undefined;
  }
}

/** JavaScript's undefined: what statements and calls without a result give. */
export const UNDEFINED: Value = { kind: 'host', value: undefined, name: 'undefined' };

export function scalar(expr: TExpr): Value {
  return { kind: 'scalar', expr };
}

export function literal(value: number | bigint | boolean, pos: Pos): TExpr {
  return { k: 'lit', value, pos };
}

export function readLocal(local: Local, pos: Pos): TExpr {
  return { k: 'local', local, pos };
}

/** Whether the value is known while compiling. */
export function isLiteral(e: TExpr): e is Extract<TExpr, { k: 'lit' }> {
  return e.k === 'lit';
}

/** How messages call a kind of value. */
export function describeValue(v: Value): string {
  switch (v.kind) {
    case 'scalar':
      return 'a number';
    case 'view':
      if (v.view.axes.length > 0) return `${v.view.name}, an array of rank ${v.view.axes.length}`;
      return v.view.element.record === undefined
        ? 'a 0-d array'
        : `an element of ${v.view.name}, ${describeElement(v.view.element)}`;
    case 'tuple':
      return `a tuple of ${v.items.length}`;
    case 'record':
      return `an object { ${[...v.fields.keys()].join(', ')} }`;
    case 'function':
      return `the function ${v.fn.name || '(anonymous)'}`;
    case 'host':
      return v.value === undefined ? 'undefined' : v.value === null ? 'null' : `${v.name} (${typeof v.value})`;
  }
}
