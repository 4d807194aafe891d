/**
 * The ways that control can take through the statements of a kernel, for analyses that go along them.
 */
import type { Label } from '../ir/ops.ts';
import type { TStmt } from '../types/tree.ts';

/** A statement, and what may be run after it. The head of a loop and the end have none of their own. */
export interface Point {
  readonly statement: TStmt | undefined;
  readonly next: Point[];
}

export interface Paths {
  readonly start: Point;
  readonly points: readonly Point[];
}

/** One point for each statement. */
export function pathsThrough(body: readonly TStmt[]): Paths {
  const points: Point[] = [];
  const targets = new Map<Label, { readonly onBreak: Point; readonly onContinue: Point | undefined }>();
  const point = (statement: TStmt | undefined, next: Point[]): Point => {
    const made: Point = { statement, next };
    points.push(made);
    return made;
  };
  const end = point(undefined, []);

  const list = (statements: readonly TStmt[], after: Point): Point =>
    statements.reduceRight((p, s) => one(s, p), after);

  const one = (s: TStmt, after: Point): Point => {
    switch (s.k) {
      case 'if':
        return point(s, [list(s.then, after), list(s.else, after)]);
      case 'block':
        targets.set(s.label, { onBreak: after, onContinue: undefined });
        return point(s, [list(s.body, after)]);
      case 'loop': {
        const head = point(s, []);
        targets.set(s.label, { onBreak: after, onContinue: undefined });
        const update = list(s.update, head);
        targets.set(s.label, { onBreak: after, onContinue: update });
        head.next.push(list(s.body, update));
        return head;
      }
      case 'break':
        return point(s, [targets.get(s.label)?.onBreak ?? end]);
      case 'continue':
        return point(s, [targets.get(s.label)?.onContinue ?? end]);
      case 'return':
      case 'trap':
        return point(s, [end]);
      default:
        return point(s, [after]);
    }
  };
  return { start: list(body, end), points };
}
