/**
 * `examining.ts` in pages, which load it for adapters that have to be asked.
 */
type Examining = typeof import('./examine.ts');

export const examine: Examining['examine'] = async (...args) => (await import('./examine.ts')).examine(...args);
