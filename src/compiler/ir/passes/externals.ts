/**
 * Calls of functions of other languages: which a device can make is known before anything else is done to a kernel, and the other way goes.
 */
import type { ExternalFunction, LinkItem, LinkKind } from '../../intrinsics/external.ts';
import type { NativeIntrinsic, ValueName } from '../../intrinsics/native.ts';
import type { Pos } from '../../source.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { eachStmt, mapLists, mapSame, mapStmtExprs, someExpr, someStmt, stmtExprs } from './walk.ts';

/** A call that neither the device's code nor a fallback stands for. */
export interface MissingExternal {
  readonly fn: ExternalFunction | NativeIntrinsic;
  readonly pos: Pos;
}

/** The text that a device has for an intrinsic of a library. */
export type NativeText = (fn: NativeIntrinsic, type: ValueName) => string | undefined;

/** The kernel with the calls that can be made of code of these kinds, and for others what stands for them; intrinsics of libraries, likewise. */
export function settleExternals(
  kernel: Kernel,
  kinds: readonly LinkKind[],
  nativeText: NativeText = () => undefined,
): { readonly kernel: Kernel; readonly missing: MissingExternal | undefined } {
  const runs = (items: readonly LinkItem[]): boolean => items.some(({ kind }) => kinds.includes(kind));
  const own = runs(kernel.link ?? []);
  const canCall = (fn: ExternalFunction): boolean => {
    const { texts } = fn;
    if (texts === undefined) return own || runs(fn.link);
    return (texts.ptx !== undefined && kinds.includes('ptx')) || (texts.hip !== undefined && kinds.includes('hip'));
  };
  const list = (statements: readonly Stmt[]): readonly Stmt[] => {
    if (!statements.some(concerns)) return mapSame(statements, (s) => mapLists(s, list));
    return statements.flatMap((s) => {
      const fn = asked(s);
      if (fn !== undefined && s.op === 'if') return list(canCall(fn) ? s.then : s.else);
      return [mapLists(s, list)];
    });
  };
  let missing: MissingExternal | undefined;
  const settle = (e: Expr, pos: Pos): Expr => {
    if (e.op !== 'native') return e;
    if (nativeText(e.fn, e.type as ValueName) !== undefined) return { ...e, otherwise: undefined };
    if (e.otherwise === undefined) missing ??= { fn: e.fn, pos };
    return e.otherwise ?? e;
  };
  const intrinsics = (statements: readonly Stmt[]): readonly Stmt[] =>
    mapSame(statements, (s) =>
      mapLists(
        mapStmtExprs(s, (e) => settle(e, s.pos)),
        intrinsics,
      ),
    );
  const settled = list(kernel.body);
  const body = someStmt(settled, (s) => stmtExprs(s).some((e) => someExpr(e, (x) => x.op === 'native')))
    ? intrinsics(settled)
    : settled;
  eachStmt(body, (s) => {
    if (s.op === 'extern' && !canCall(s.fn)) missing ??= { fn: s.fn, pos: s.pos };
  });
  return { kernel: body === kernel.body ? kernel : { ...kernel, body }, missing };
}

/** What a kernel is linked with, of these kinds: its own code first, each file or text once. */
export function linkedWith(kernel: Kernel, kinds: readonly LinkKind[]): readonly LinkItem[] {
  const found = new Map<string, LinkItem>();
  const add = (items: readonly LinkItem[]): void => {
    for (const item of items) if (kinds.includes(item.kind)) found.set(item.key, item);
  };
  add(kernel.link ?? []);
  for (const fn of externalsIn(kernel)) add(fn.link);
  return [...found.values()];
}

/** The functions that a kernel calls, by their names. */
export function externalsIn({ body }: Kernel): readonly ExternalFunction[] {
  const found = new Map<string, ExternalFunction>();
  eachStmt(body, (s) => {
    if (s.op === 'extern' && s.fn.texts === undefined) found.set(s.fn.name, s.fn);
  });
  return [...found.values()];
}

function concerns(s: Stmt): boolean {
  return asked(s) !== undefined;
}

/** The function whose being there a statement asks for. */
function asked(s: Stmt): ExternalFunction | undefined {
  const cond: Expr | undefined = s.op === 'if' ? s.cond : undefined;
  return cond?.op === 'available' ? cond.fn : undefined;
}
