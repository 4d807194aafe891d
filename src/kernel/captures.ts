/**
 * `TSAMBA_DEBUG=captures`: finds captured values that changed after a kernel had read them.
 *
 * A kernel's captures are read at its first launch and frozen. In this mode the function is read again at every launch, and a
 * difference is an error that names the variable.
 */
import type { CapturedFunction } from '../compiler/frontend/captured.ts';
import { TsambaRangeError } from '../errors.ts';
import { show } from '../show.ts';

/** What one captured name was bound to; of host data also a copy of what it held. */
interface Binding {
  readonly value: unknown;
  readonly bytes: Uint8Array | undefined;
}

/** Captured names, and what they were bound to at one time. */
export type CaptureSnapshot = ReadonlyMap<string, Binding>;

/** What a function has captured now. */
export function snapshotCaptures(captured: CapturedFunction): CaptureSnapshot {
  const bindings = new Map<string, Binding>();
  for (const [name, { found, value }] of entriesOf(captured)) {
    if (found) bindings.set(name, { value, bytes: bytesOf(value)?.slice() });
  }
  return bindings;
}

/** Throws when a name is bound to another value now than in `before`, or when host data that it names has changed. */
export function compareCaptures(kernel: string, before: CaptureSnapshot, captured: CapturedFunction): void {
  for (const [name, { found, value }] of entriesOf(captured)) {
    const was = before.get(name);
    if (was === undefined || !found) continue;
    const remedy = `the kernel keeps what it read at its first launch: pass ${name} as an argument, or call ${kernel}.recompile()`;
    if (!Object.is(was.value, value)) {
      throw new TsambaRangeError(
        'E_CAPTURE_CHANGED',
        `${name}, captured by ${kernel}, was ${show(was.value)} and is now ${show(value)}: ${remedy}`,
      );
    }
    const bytes = bytesOf(value);
    if (bytes !== undefined && was.bytes !== undefined && !equal(bytes, was.bytes)) {
      throw new TsambaRangeError(
        'E_CAPTURE_CHANGED',
        `the elements of ${name}, captured by ${kernel}, have changed: ${remedy}`,
      );
    }
  }
}

function entriesOf(captured: CapturedFunction): Iterable<[string, { found: boolean; value?: unknown }]> {
  return captured.captures;
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const data: unknown = typeof value === 'object' && value !== null ? (value as { data?: unknown }).data : undefined;
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
