/**
 * Loads and stores: elements of arrays as C names them, and values to elements and back.
 */
import { isNarrowFloat } from '../../../dtype/index.ts';
import { ELEM_SIZE, type ElemType, type Expr, isInt, type MemRef } from '../../ir/ops.ts';
import { infix, type Print } from './arithmetic.ts';
import {
  arrayName,
  atom,
  type C,
  callOf,
  castTo,
  elementName,
  type Gen,
  Level,
  spaceName,
  spaceOf,
  within,
} from './code.ts';

const NARROW: ReadonlySet<ElemType> = new Set(['i8', 'u8', 'i16', 'u16']);

/** An element as what can be loaded from and stored to. */
export function elementOf(g: Gen, print: Print, mem: MemRef): string {
  const { array, elem, scale, disp } = mem;
  const size = ELEM_SIZE[elem];
  const name = arrayName(array);
  if (elem === array.elem && scale === size && disp % size === 0) {
    const index = indexOf(g, print, mem.index);
    const k = disp / size;
    if (k === 0) return `${name}[${index.text}]`;
    // An index may be as large as its type allows; the pointer may not.
    return `(${name} ${k < 0 ? '-' : '+'} ${Math.abs(k)})[${index.text}]`;
  }
  const space = spaceName(g, spaceOf(g, array));
  const far = `(long)${within(print(mem.index), Level.unary)} * ${scale}${disp === 0 ? '' : ` + ${disp < 0 ? `(${disp})` : disp}`}`;
  return `*(${space}${elementName(g, elem)} *)((${space}uchar *)${name} + ${far})`;
}

/** The address of an element. */
export function addressOf(g: Gen, print: Print, mem: MemRef): string {
  const element = elementOf(g, print, mem);
  return element.startsWith('*') ? within({ text: element.slice(1), level: Level.unary }, Level.unary) : `&${element}`;
}

/** The address of an element as a pointer to its type. */
export function pointerTo(g: Gen, print: Print, mem: MemRef): C {
  const type = `${spaceName(g, spaceOf(g, mem.array))}${elementName(g, mem.elem)} *`;
  return { text: `(${type})(${addressOf(g, print, mem)})`, level: Level.unary };
}

/**
 * An index that is not checked: that its sums and products do not wrap where it is in range is what indices are, and CUDA's
 * compilers take for granted. In checked mode the sum may wrap into the array's range.
 */
function indexOf(g: Gen, print: Print, e: Expr): C {
  const plain = (x: Expr): C =>
    x.op === 'binary' && isInt(x.type) && (x.fn === 'add' || x.fn === 'sub' || x.fn === 'mul')
      ? infix(plain, x.fn, x.a, x.b)
      : print(x);
  return g.kernel.checked ? print(e) : plain(e);
}

export function loadElement(g: Gen, print: Print, mem: MemRef): C {
  const space = spaceName(g, spaceOf(g, mem.array));
  if (isNarrowFloat(mem.elem)) {
    if (g.target.dialect === 'hip') return callOf('half_value', atom(elementOf(g, print, mem)));
    return atom(`vload_half(0, (const ${space}half *)(${addressOf(g, print, mem)}))`);
  }
  switch (mem.elem) {
    case 'bool':
      return { text: `${elementOf(g, print, mem)} != 0`, level: Level.loose };
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
      return { text: `(int)${within(element(g, print, mem), Level.unary)}`, level: Level.unary };
    default:
      return element(g, print, mem);
  }
}

function element(g: Gen, print: Print, mem: MemRef): C {
  const text = elementOf(g, print, mem);
  return { text, level: text.startsWith('*') ? Level.unary : Level.atom };
}

/** The statement that stores a value. */
export function storeElement(g: Gen, print: Print, mem: MemRef, value: Expr): string {
  const { elem } = mem;
  const stored = print(value);
  // Compilers warn of constants that change.
  const v = (NARROW.has(elem) ? castTo(elementName(g, elem), stored) : stored).text;
  if (isNarrowFloat(elem)) {
    if (g.target.dialect === 'hip') return `${elementOf(g, print, mem)} = half_bits(${v});`;
    const space = spaceName(g, spaceOf(g, mem.array));
    return `vstore_half_rte(${v}, 0, (${space}half *)(${addressOf(g, print, mem)}));`;
  }
  return `${elementOf(g, print, mem)} = ${v};`;
}
