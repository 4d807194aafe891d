/**
 * `takeResult(value)`: what the library's own probes end in, so that a host can ask what type a function gives (`compile.ts`, `resultTypes`).
 */
import type { TExpr } from '../types/tree.ts';
import type { Handler } from './intrinsic-call.ts';
import { UNDEFINED } from './values.ts';

/** The name of the variables that hold a result; no name of JavaScript. */
export const RESULT = '%result';

const takeResult: Handler = ({ ctx, args, pos }) => {
  const [value] = args;
  const parts: readonly TExpr[] =
    value?.kind === 'scalar' ? [value.expr] : value?.kind === 'complex' ? [value.re, value.im] : [];
  for (const part of parts) ctx.emit({ k: 'assign', local: ctx.newLocal(RESULT, pos, true), value: part, pos });
  return UNDEFINED;
};

export const RESULT_HANDLERS: Readonly<Record<string, Handler>> = { takeResult };
