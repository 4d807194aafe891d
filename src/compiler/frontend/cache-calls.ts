/**
 * Calls of loads and stores that say how caches should treat what they move: `ldcg(a, i)`, `stcs(a, i, v)`. And what a kernel promises of
 * addresses, `assumeAligned`.
 */
import { isTextDType, isTimeDType } from '../../dtype/index.ts';
import { describeElement, fieldsOf } from '../elements.ts';
import type { ExternalFunction } from '../intrinsics/external.ts';
import { spelled } from '../intrinsics.ts';
import type { CacheHint } from '../ir/ops.ts';
import type { TExpr, TMem, TStmt } from '../types/tree.ts';
import { compare, toIndex } from './arithmetic.ts';
import { element } from './arrays.ts';
import { elementOf, emitAtomic } from './atomic-calls.ts';
import { fail } from './diagnostics.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { writable } from './stores.ts';
import { describeValue, isLiteral, literal, readLocal, scalar, UNDEFINED } from './values.ts';

/** The scalar that the first two arguments name. */
function hinted(call: Call, cache: CacheHint, rest: string): TMem {
  const view = elementOf(call, rest);
  const { record } = view.element;
  if (record !== undefined) {
    const name = spelled(call.name);
    const whole = isTextDType(record) || isTimeDType(record);
    const first = fieldsOf(record)?.[0]?.name ?? 'x';
    return fail('K335', call.pos, `${name} does not exist for ${describeElement(view.element)}`, {
      help: whole ? 'read and write it plainly: a[i]' : `name a member: ${name}(p[i], '${first}'${rest})`,
    });
  }
  return { ...element(view, call.pos), cache };
}

function load(cache: CacheHint): Handler {
  return (call) => {
    count(call, 2);
    return scalar(call.ctx.hold({ k: 'load', mem: hinted(call, cache, ''), pos: call.pos }, `%${call.name}`));
  };
}

/** Read again, whatever caches hold: what an atomic load does. */
const again: Handler = (call) => {
  count(call, 2);
  return emitAtomic(call, 'load', elementOf(call, ''), []);
};

function store(cache: CacheHint): Handler {
  return (call) => {
    count(call, 3);
    const mem = writable(hinted(call, cache, ', value'), call.pos);
    call.ctx.emit({ k: 'store', mem, value: number(call, 2), pos: call.pos });
    return UNDEFINED;
  };
}

const assumeAligned: Handler = (call) => {
  count(call, 2);
  const [array] = call.args;
  const bytes = number(call, 1);
  if (array?.kind !== 'view') {
    const what = array === undefined ? 'nothing' : describeValue(array);
    return fail('K334', call.pos, `${spelled(call.name)} needs an array first, not ${what}`);
  }
  const n = isLiteral(bytes) ? bytes.value : undefined;
  if (typeof n !== 'number' || n < 1 || !Number.isInteger(Math.log2(n))) {
    return fail('K342', call.pos, 'an alignment is a power of two that is known at compile time', {
      help: 'write 4, 8, 16 …',
    });
  }
  // Of records only the first is aligned as the array is.
  const align = array.view.element.record === undefined ? Math.max(array.view.align, n) : array.view.align;
  return { kind: 'view', view: { ...array.view, align } };
};

/** The element that an address is asked of: `(a, i)`, or of an array alone the first. */
function addressed(call: Call): TMem {
  const [array] = call.args;
  const first = call.args.length === 1 && array?.kind === 'view' ? { ...array.view, axes: [] } : undefined;
  return element(first ?? elementOf(call, ''), call.pos);
}

/** Instructions that take the address of an element. Elements of other types have other ones, as functions have parameters of one type. */
function instruction(name: string, { elem }: TMem, texts: ExternalFunction['texts'], result?: 'u64'): ExternalFunction {
  return { name, params: [{ elem, pointer: true }], result, link: [], fallback: undefined, texts };
}

const prefetch: Handler = (call) => {
  count(call, 2, 3);
  const { ctx, pos, args } = call;
  const level = levelOf(call);
  const mem = addressed({ ...call, args: args.slice(0, 2) });
  if (mem.root.space !== 'global' || mem.root.among !== undefined) return UNDEFINED;
  const fn = instruction(call.name, mem, { ptx: `prefetch.${level} [$1]` });
  // What lies outside of the array is not asked for.
  const inside = mem.checks.flatMap(({ index, extent }): TExpr[] => {
    const held = ctx.hold(toIndex(index));
    return [compare('ge', held, literal(0, pos), pos), compare('lt', held, extent, pos)];
  });
  const cond = inside.reduce<TExpr>((a, b) => ({ k: 'logic', fn: 'and', a, b, pos }), literal(true, pos));
  const fetch: TStmt = {
    k: 'extern',
    fn,
    args: [{ k: 'address', mem: { ...mem, checks: [] }, pos }],
    result: undefined,
    pos,
  };
  const then: TStmt[] = isLiteral(cond) ? [fetch] : [{ k: 'if', cond, then: [fetch], else: [], pos }];
  ctx.emit({ k: 'if', cond: { k: 'available', fn, pos }, then, else: [], pos });
  return UNDEFINED;
};

/** `{ level: 'L1' }`. */
function levelOf({ args, pos, name }: Call): 'L1' | 'L2' {
  const options = args[2];
  if (options === undefined) return 'L2';
  const level = options.kind === 'record' ? options.fields.get('level') : undefined;
  const value = level?.kind === 'host' ? level.value : undefined;
  if (value === 'L1' || value === 'L2') return value;
  return fail('K316', pos, `${spelled(name)} takes { level: 'L1' } or { level: 'L2' } as its last argument`);
}

const addressOf: Handler = (call) => {
  count(call, 1, 2);
  const { ctx, pos } = call;
  const mem = addressed(call);
  if (mem.root.among !== undefined) {
    return fail('K338', pos, `${mem.root.name} is one of several arrays, whose addresses differ`, {
      help: 'take the address of each, and choose between these',
    });
  }
  const texts = { ptx: 'mov.b64 $0, $1', hip: '(ulong)$1' };
  const fn = instruction(call.name, mem, texts, 'u64');
  const result = ctx.newLocal(`%${call.name}`, pos, true);
  ctx.emit({ k: 'extern', fn, args: [{ k: 'address', mem: { ...mem, checks: [] }, pos }], result, pos });
  return scalar(readLocal(result, pos));
};

export const CACHE_HANDLERS: Readonly<Record<string, Handler>> = {
  ldca: load('ca'),
  ldcg: load('cg'),
  ldcs: load('cs'),
  ldlu: load('lu'),
  ldcv: again,
  stcg: store('cg'),
  stcs: store('cs'),
  stwb: store('wb'),
  stwt: store('wt'),
  assumeAligned,
  prefetch,
  addressOf,
};
