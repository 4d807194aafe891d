/**
 * The names of the special functions.
 */
const NAMES = ['j0', 'j1', 'y0', 'y1', 'i0', 'i1', 'erfinv', 'erfcinv', 'erfcx', 'normcdf', 'normcdfinv'] as const;

export type SpecialFn = (typeof NAMES)[number];

const KNOWN: ReadonlySet<string> = /* @__PURE__ */ new Set(NAMES);

export function isSpecial(fn: string): fn is SpecialFn {
  return KNOWN.has(fn);
}
