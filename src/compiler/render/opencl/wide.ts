/**
 * Neighbours that are loaded or stored at once: `vload4` and `vstore4`, in HIP vectors of clang's. Neither asks for more alignment than an element
 * has; compilers know what the device makes of it.
 */
import { isNarrowFloat } from '../../../dtype/index.ts';
import type { ElemType, MemRef, Stmt, Wide } from '../../ir/ops.ts';
import { wideLoads, wideStores } from '../wide.ts';
import type { Print } from './arithmetic.ts';
import { type Gen, spaceName, spaceOf, storedName, varName } from './code.ts';
import { addressOf } from './memory.ts';

const MEMBERS = ['x', 'y', 'z', 'w'] as const;

/** Writes the wide access that begins at `list[k]`, if one does: how many statements it is. */
export function wideAccess(g: Gen, print: Print, list: readonly Stmt[], k: number): number {
  const loads = wideLoads(list, k);
  const [load] = loads;
  if (load !== undefined) {
    const { mem } = load.value;
    if (!isPossible(g, mem)) return 0;
    const { type, from } = accessOf(g, print, mem);
    const parts = loads.map((s, n) => `${varName(s.var)} = ${laneOf(g, mem.elem, n)};`);
    g.lines.add(`{ ${type}t = ${from}; ${parts.join(' ')} }`);
    return loads.length;
  }
  const stores = wideStores(list, k);
  const [store] = stores;
  if (store === undefined || !isPossible(g, store.mem)) return 0;
  const { mem } = store;
  const values = stores.map((s) => storedText(g, mem.elem, print(s.value).text));
  const { type, to } = accessOf(g, print, mem);
  g.lines.add(`{ ${type}t; ${values.map((v, n) => `t.${MEMBERS[n]} = ${v};`).join(' ')} ${to} }`);
  return stores.length;
}

/** In checked mode each element is checked for itself. */
function isPossible(g: Gen, mem: MemRef): boolean {
  return !g.kernel.checked && mem.elem !== 'bool' && mem.array.space !== 'constant';
}

interface Access {
  /** The declaration of the vector's type. */
  readonly type: string;
  readonly from: string;
  readonly to: string;
}

function accessOf(g: Gen, print: Print, mem: MemRef): Access {
  const { lanes } = mem.wide as Wide;
  const name = storedName(mem.elem);
  if (g.target.dialect === 'hip') {
    const align = `aligned(sizeof(${name})), may_alias`;
    const at = (qualifier: string): string => `*(${qualifier}V *)(${addressOf(g, print, mem)})`;
    const type = `typedef ${name} V __attribute__((ext_vector_type(${lanes}), ${align})); V `;
    return { type, from: at('const '), to: `${at('')} = t;` };
  }
  const half = isNarrowFloat(mem.elem);
  const space = spaceName(g, spaceOf(g, mem.array));
  const pointer = `${space}${half ? 'half' : name} *)(${addressOf(g, print, mem)}`;
  const [load, store] = half ? [`vload_half${lanes}`, `vstore_half${lanes}_rte`] : [`vload${lanes}`, `vstore${lanes}`];
  return {
    type: `${half ? 'float' : name}${lanes} `,
    from: `${load}(0, (const ${pointer}))`,
    to: `${store}(t, 0, (${pointer}));`,
  };
}

function laneOf(g: Gen, elem: ElemType, lane: number): string {
  const text = `t.${MEMBERS[lane]}`;
  return isNarrowFloat(elem) && g.target.dialect === 'hip' ? `half_value(${text})` : text;
}

function storedText(g: Gen, elem: ElemType, text: string): string {
  return isNarrowFloat(elem) && g.target.dialect === 'hip' ? `half_bits(${text})` : text;
}
