/**
 * Calls of loads and stores that say how caches should treat what they move: `ldcg(a, i)`, `stcs(a, i, v)`. And what a kernel promises of
 * addresses, `assumeAligned`.
 */
import { describeElement } from '../elements.ts';
import { spelled } from '../intrinsics.ts';
import type { CacheHint } from '../ir/ops.ts';
import type { TMem } from '../types/tree.ts';
import { element } from './arrays.ts';
import { elementOf, emitAtomic } from './atomic-calls.ts';
import { fail } from './diagnostics.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { writable } from './stores.ts';
import { describeValue, isLiteral, scalar, UNDEFINED } from './values.ts';

/** The scalar that the first two arguments name. */
function hinted(call: Call, cache: CacheHint, rest: string): TMem {
  const view = elementOf(call, rest);
  if (view.element.record !== undefined) {
    return fail('K335', call.pos, `${spelled(call.name)} does not exist for ${describeElement(view.element)}`, {
      help: `name a member: ${spelled(call.name)}(p[i], 'x'${rest})`,
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
    return fail('K342', call.pos, 'an alignment is a power of two that is known while compiling', {
      help: 'write 4, 8, 16 …',
    });
  }
  // Of records only the first is aligned as the array is.
  const align = array.view.element.record === undefined ? Math.max(array.view.align, n) : array.view.align;
  return { kind: 'view', view: { ...array.view, align } };
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
};
