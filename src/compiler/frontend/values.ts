/**
 * What an expression of the source is to the front end: a scalar computed at run time, or one of the things that exist only
 * while compiling (a view of an array, a tuple, an object literal, a function, a value of the host).
 */

import type { AnyNode } from 'acorn';
import type { TimeToken, VectorToken } from '../../dtype/index.ts';
import { describeElement, type Element } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { Local, Root, TExpr, TStmt, Via } from '../types/tree.ts';
import type { CapturedFunction, FunctionNode } from './captured.ts';

/** One axis of a view; strides are in units of the view's `unit` bytes. */
export interface Axis {
  readonly extent: TExpr;
  readonly stride: TExpr;
  /** Of a slice: how many elements there are if the array has them all. */
  readonly whole?: number | undefined;
}

/** An array or a part of one: `root` memory, an offset into it and axes. */
export interface View {
  readonly root: Root;
  /** Where the root is one of several: the `id` of that one. */
  readonly which?: TExpr | undefined;
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
  /** Of the variables that hold a view: what hints know them by, and the view that they were made for. */
  readonly place?: { readonly key: string; readonly like: View } | undefined;
}

export type Value =
  | ({ readonly kind: 'scalar'; readonly expr: TExpr } & Optional)
  /** A complex number: a value like a scalar. Its parts are of one type. */
  | ({ readonly kind: 'complex'; readonly re: TExpr; readonly im: TExpr } & Optional)
  /** A value like a scalar, each of whose lanes has the lane's type: a vector, or a date, which has one. `at`: it has just been read from there. */
  | ({
      readonly kind: 'vector';
      readonly type: VectorToken<unknown> | TimeToken;
      readonly lanes: readonly TExpr[];
      readonly at?: View | undefined;
    } & Optional)
  | ({ readonly kind: 'view'; readonly view: View } & Optional)
  /** `axesOf`: of what array these are lengths or strides, one an axis. */
  | ({
      readonly kind: 'tuple';
      readonly items: readonly Value[];
      readonly axesOf?: string;
      /** What it was made from, where it can be made in memory instead: a literal, a captured array, an argument. */
      readonly site?: object | undefined;
      /** Of variables that hold several by turns: what hints know them by. */
      readonly place?: string | undefined;
      /** Of objects that are indexed by a variable: their members of a name, in memory. */
      readonly columns?: ReadonlyMap<string, View> | undefined;
      readonly identity?: Identity | undefined;
    } & Optional)
  /** An object none of whose fields is assigned to. `site`: where it was made, if in the kernel. */
  | ({
      readonly kind: 'record';
      readonly fields: ReadonlyMap<string, Value>;
      readonly site?: string | undefined;
      /** It is one of several, each of which would have variables if a field of it were assigned to. */
      readonly among?: readonly Value[] | undefined;
      readonly type?: ClassValue | undefined;
      readonly identity?: Identity | undefined;
    } & Optional)
  /** An object with fields that are assigned to; a reference to it is out of date once another was put in its place. */
  | ({ readonly kind: 'object'; readonly object: KernelObject; readonly version: number } & Optional)
  | { readonly kind: 'function'; readonly fn: FunctionValue }
  /** One of several functions, by a number at run time. */
  | { readonly kind: 'functions'; readonly index: TExpr; readonly among: readonly Value[] }
  | { readonly kind: 'class'; readonly type: ClassValue }
  /** A value from outside the kernel: an intrinsic, a namespace, a dtype token, a string, undefined. */
  | { readonly kind: 'host'; readonly value: unknown; readonly name: string; readonly why?: Absence };

/** A vector: `f32x4`. */
export type VectorValue = Extract<Value, { kind: 'vector' }>;

export type TupleValue = Extract<Value, { kind: 'tuple' }>;

/** What may be undefined or null at run time. Its scalars are variables that name the flag, too. */
interface Optional {
  /** The flag that says whether it is there. */
  readonly present?: Local | undefined;
}

/** What an array or object is to `===`. What a launch gave may be the same as something else that it gave, or that is captured. */
export interface Identity {
  readonly from: 'kernel' | 'host' | 'launch';
}

const HOST = new WeakMap<object, Identity>();

/** What an array or object of the host is to `===`. */
export function hostIdentity(value: object): Identity {
  const identity = HOST.get(value) ?? { from: 'host' };
  HOST.set(value, identity);
  return identity;
}

/** Where and why something is undefined, or what the launch gave that is not a number. */
export interface Absence {
  readonly text: string;
  readonly pos: Pos;
  /** The error that a use deserves, where it is another than that of values that may be absent: of a field that there is none of. */
  readonly error?: { readonly code: string; readonly help: string | undefined };
}

/** A function that can be called in a kernel: nested in it (`scope` set) or captured. */
export interface FunctionValue {
  readonly name: string;
  readonly node: FunctionNode;
  readonly captured: CapturedFunction;
  readonly scope: Scope | undefined;
}

/** A class, of the kernel or captured, or the accessors of an object literal. */
export interface ClassValue {
  readonly name: string;
  readonly captured: CapturedFunction;
  readonly scope: Scope | undefined;
  /** The partial evaluation that has read it: one that begins again reads it anew. */
  readonly evaluation?: object;
  readonly construct: FunctionValue | undefined;
  readonly methods: ReadonlyMap<string, FunctionValue>;
  readonly getters: ReadonlyMap<string, FunctionValue>;
  readonly setters: ReadonlyMap<string, FunctionValue>;
  /** Field declarations, with their initialisers. */
  readonly initialisers: readonly {
    readonly name: string;
    readonly node: AnyNode;
    readonly value: AnyNode | undefined;
  }[];
  /** Methods and fields of the class itself. */
  readonly statics: ReadonlyMap<string, Value>;
  /** Of an object literal with accessors, which are the object's own: the names of all its properties, in order. */
  readonly own?: readonly string[];
}

/** An object whose fields are variables: what names for it share. */
export interface KernelObject {
  readonly name: string;
  readonly pos: Pos;
  readonly type: ClassValue | undefined;
  readonly fields: Map<string, Binding>;
  /** Where objects were made that have been put into it. */
  readonly sites: Set<string>;
  /** Names and fields that it was given to. */
  readonly holders: Set<Binding>;
  /** Rounds of loops inside of which it was made. */
  readonly loops: number;
  /** The stretch of the program in which it gets its fields. */
  madeIn: Branch;
  /** Its constructor runs: assignments make fields. */
  open: boolean;
  /** What stands before its constructor: the flags of fields that it may leave without a value. */
  prologue?: TStmt[];
  /** Assigned to while it is taken for one that is not. */
  changed: boolean;
  /** How often its contents have been replaced as a whole. */
  version: number;
  /** Objects that were the same one when their contents were copied. */
  readonly twins: Set<KernelObject>;
  /** It is one of two, decided at run time. */
  readonly choice?: { readonly cond: TExpr; readonly a: Value; readonly b: Value } | undefined;
}

/** A stretch of the program that is run from its start to its end or not at all, but for jumps out of it. */
export interface Branch {
  readonly outer: Branch | undefined;
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
  /** The first that happens to it is that it gets a value. */
  assignedFirst?: boolean;
  /** Says at run time whether it has a value, where not every path to a use gives it one. */
  flag?: Local | undefined;
  /** Branches of the program in which it has a value from some point on. */
  assignedIn?: Set<Branch>;
  /** It may become undefined again. */
  vanishes?: boolean;
  /** It has been used as one that has a value for certain. */
  relied?: boolean;
  /** What it holds was supposed before anything was assigned to it. */
  supposed?: boolean;
  /** What it is until it gets a value. */
  empty?: Extract<Value, { kind: 'host' }>;
  /** Rounds of loops inside of which it was declared. */
  loops: number;
  /** Depth of divergent constructs at which the structure of the value was bound. */
  depth: number;
  /** The stretch of the program in which it was bound. */
  boundIn?: Branch;
  /** Where the name can be seen. */
  readonly scope?: Scope;
  /** The object that it is a field of. */
  readonly owner?: KernelObject;
  /** It has variables of its own for the objects that it holds. */
  readonly boxed?: boolean;
}

/** A chain of block scopes. The outermost one of a function asks `captured` for what it does not have. */
export class Scope {
  readonly names: Map<string, Binding> = new Map();
  readonly parent: Scope | undefined;
  readonly captured: CapturedFunction;
  /** Where `var` and function declarations go. */
  readonly isFunction: boolean;
  /** Control has left it: its names are gone. */
  closed = false;
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

/** Whether a value is undefined or null for certain. */
export function isAbsent(v: Value): v is Extract<Value, { kind: 'host' }> {
  return v.kind === 'host' && (v.value === undefined || v.value === null);
}

/** Whether there may be nothing: for certain, or decided at run time. */
export function isOptional(v: Value): boolean {
  return isAbsent(v) || ('present' in v && v.present !== undefined);
}

export function scalar(expr: TExpr): Value {
  return { kind: 'scalar', expr };
}

export function literal(value: number | bigint | boolean, pos: Pos): TExpr {
  return { k: 'lit', value, pos };
}

export function readLocal(local: Local, pos: Pos): TExpr {
  return { k: 'local', local, range: undefined, pos };
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
    case 'complex':
      return 'a complex number';
    case 'vector':
      return v.type.kind === 'V' ? `a vector ${v.type.name}` : `a ${v.type.name}`;
    case 'view':
      if (v.view.axes.length > 0) return `${v.view.name}, an array of rank ${v.view.axes.length}`;
      return v.view.element.record === undefined
        ? 'a 0-d array'
        : `an element of ${v.view.name}, ${describeElement(v.view.element)}`;
    case 'tuple':
      return `a tuple of ${v.items.length}`;
    case 'record':
      return v.type?.name ? `an object of class ${v.type.name}` : `an object { ${[...v.fields.keys()].join(', ')} }`;
    case 'object':
      return v.object.type?.name
        ? `an object of class ${v.object.type.name}`
        : `an object { ${[...v.object.fields.keys()].join(', ')} }`;
    case 'class':
      return `the class ${v.type.name || '(anonymous)'}`;
    case 'function':
      return `the function ${v.fn.name || '(anonymous)'}`;
    case 'functions':
      return `one of ${v.among.length} functions`;
    case 'host':
      return v.value === undefined ? 'undefined' : v.value === null ? 'null' : `${v.name} (${typeof v.value})`;
  }
}

/** The same value with every scalar in it replaced. */
export function mapScalars(v: Value, f: (e: TExpr) => TExpr): Value {
  switch (v.kind) {
    case 'scalar': {
      const expr = f(v.expr);
      return expr === v.expr ? v : { ...v, expr };
    }
    case 'complex':
      return { ...v, re: f(v.re), im: f(v.im) };
    case 'vector':
      return { ...v, lanes: v.lanes.map(f), at: undefined };
    case 'tuple':
      return { ...v, items: v.items.map((x) => mapScalars(x, f)) };
    case 'record':
      return { ...v, fields: new Map([...v.fields].map(([k, x]) => [k, mapScalars(x, f)])) };
    case 'view': {
      const view = mapView(v.view, f);
      return view === v.view ? v : { ...v, view };
    }
    default:
      return v;
  }
}

/** The view with every scalar in it replaced; itself where none is, as of most arrays. */
function mapView(view: View, f: (e: TExpr) => TExpr): View {
  let same = true;
  const changed = (e: TExpr): TExpr => {
    const other = f(e);
    same &&= other === e;
    return other;
  };
  const which = view.which && changed(view.which);
  const axes = view.axes.map((a) => ({ ...a, extent: changed(a.extent), stride: changed(a.stride) }));
  const checks = view.checks.map((c) => ({ index: changed(c.index), extent: changed(c.extent), axis: c.axis }));
  const offset = view.offset === undefined ? undefined : changed(view.offset);
  return same ? view : { ...view, which, axes, checks, offset };
}
