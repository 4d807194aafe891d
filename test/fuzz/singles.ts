/**
 * Programs without f64, for devices that have none: the same ones, with f32 in its place.
 */
import type { ArrayDecl, Program } from './program.ts';

/** The same program in f32. Discarded by who runs it where that changes what a number must be. */
export function inSingles(p: Program): Program {
  return { ...(copy(p, new Map()) as Program), defaultFloat: 'f32' };
}

/** A copy that shares within itself what the original shares: arrays are known by identity. */
function copy(value: unknown, made: Map<object, unknown>): unknown {
  if (value === 'f64') return 'f32';
  if (typeof value !== 'object' || value === null) return value;
  const known = made.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    made.set(value, list);
    for (const item of value) list.push(copy(item, made));
    return list;
  }
  if (value instanceof Map || value instanceof Set) throw new Error('programs are made of plain objects');
  const object: Record<string, unknown> = {};
  made.set(value, object);
  for (const [key, item] of Object.entries(value)) object[key] = copy(item, made);
  if (object['t'] === 'f32' && typeof object['v'] === 'number') object['v'] = Math.fround(object['v']);
  const { elem, data } = object as unknown as ArrayDecl;
  if (elem === 'f32' && Array.isArray(data)) object['data'] = data.map((v) => Math.fround(v as number));
  return object;
}
