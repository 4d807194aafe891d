/**
 * Names of fields as the source has them.
 */
import type { AnyNode } from 'acorn';

/** The name of a field in an object literal, a pattern or a class; private names keep their `#`. */
export function fieldName(key: AnyNode): string {
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  return key.type === 'Identifier' ? key.name : String((key as { value?: unknown }).value);
}
