/**
 * What each barrier orders: accesses to buffers, to workgroup memory, or both. A barrier of WGSL orders one of the two, so that what needs both takes two of them, and
 * most kernels exchange nothing through buffers.
 *
 * A barrier orders two accesses to the same memory, one before it and one behind, where one of them writes.
 */
import type { MemRef, Stmt } from '../../ir/ops.ts';
import { eachPart, hasBarrier, stmtExprs, stmtLists, written } from '../../ir/passes/walk.ts';
import type { Memory } from './code.ts';

export interface Ordered {
  readonly buffers: boolean;
  readonly workgroup: boolean;
}

type Barrier = Stmt & { readonly op: 'barrier' };

/** The first and the last access to a memory, in the order of the text. */
interface Span {
  readonly isBuffer: boolean;
  first: number;
  last: number;
  firstWrite: number;
  lastWrite: number;
}

/** Where a barrier is, or the outermost loop around it, whose rounds come before it and behind. */
interface Place {
  readonly barrier: Barrier;
  readonly from: number;
  to: number;
}

export function orderedBy(body: readonly Stmt[], memoryOf: (mem: MemRef) => Memory): ReadonlyMap<Stmt, Ordered> {
  const spans = new Map<string, Span>();
  const places: Place[] = [];
  let at = 0;
  const note = (mem: MemRef, writes: boolean): void => {
    if (mem.array.space !== 'global' && mem.array.space !== 'shared') return;
    const { name } = memoryOf(mem);
    const isBuffer = mem.array.space === 'global';
    const none = Number.POSITIVE_INFINITY;
    const span = spans.get(name) ?? { isBuffer, first: none, last: -none, firstWrite: none, lastWrite: -none };
    spans.set(name, span);
    span.first = Math.min(span.first, at);
    span.last = at;
    if (!writes) return;
    span.firstWrite = Math.min(span.firstWrite, at);
    span.lastWrite = at;
  };
  const walk = (list: readonly Stmt[], around: number | undefined): void => {
    for (const s of list) {
      at++;
      for (const e of stmtExprs(s)) {
        eachPart(e, (part) => {
          if (part.op === 'load') note(part.mem, false);
        });
      }
      const target = written(s);
      if (target !== undefined) note(target, true);
      if (s.op === 'barrier') {
        at++;
        places.push({ barrier: s, from: around ?? at, to: at });
        at++;
      }
      const isOutermost = s.op === 'loop' && around === undefined && hasBarrier([s]);
      const known = places.length;
      for (const inner of stmtLists(s)) walk(inner, isOutermost ? at : around);
      if (isOutermost) for (const place of places.slice(known)) place.to = at;
    }
  };
  walk(body, undefined);
  const orders = ({ from, to }: Place, isBuffer: boolean): boolean =>
    [...spans.values()].some(
      (span) =>
        span.isBuffer === isBuffer &&
        ((span.firstWrite <= to && span.last >= from) || (span.first <= to && span.lastWrite >= from)),
    );
  return new Map(
    places.map((place) => [place.barrier, { buffers: orders(place, true), workgroup: orders(place, false) }]),
  );
}
