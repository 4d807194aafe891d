/**
 * `in-script.ts` in pages, which have no inspector: no script is known.
 */
type InScript = typeof import('./in-script.ts');

export const placeInScript: InScript['placeInScript'] = () => undefined;
export const beginInScript: InScript['beginInScript'] = () => undefined;
