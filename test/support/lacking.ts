/**
 * Tests that a device refuses for what it lacks: no failures, but skipped.
 */

/** What WebGPU does not have: a kernel that asks for it is refused, in these words. */
export const WEBGPU_LACKS: readonly string[] = [
  'E_F64',
  'E_ATOMIC64',
  'E_ATOMIC_SCOPE',
  'E_FENCE',
  'E_HOST_MEMORY',
  'E_BUFFERS',
  'E_IPC',
  'E_COOPERATIVE',
];

/** What a device lacks for a test, if that is why it failed. */
export function lackingIn(error: unknown, codes: readonly string[]): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    if ('code' in e && codes.includes(String(e.code))) return e.message;
  }
  return undefined;
}
