/**
 * What tests on WebGPU in Node.js have in common: the adapter, and what WebGPU does not have.
 */
import { existsSync } from 'node:fs';
import { whyNoGpu } from '../../src/driver/webgpu/api.ts';

/** SwiftShader, as Debian's Chromium brings it: it computes on the processor. */
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** What WebGPU does not have: a kernel that asks for it is refused, in these words. */
export const LACKS: readonly string[] = [
  'E_F64',
  'E_ATOMIC64',
  'E_ATOMIC_SCOPE',
  'E_FENCE',
  'E_HOST_MEMORY',
  'E_BUFFERS',
  'E_IPC',
  'E_COOPERATIVE',
];

/** Takes SwiftShader where nobody says what else. */
export function preferSwiftShader(): void {
  if (process.env['VK_ICD_FILENAMES'] === undefined && existsSync(SWIFTSHADER)) {
    process.env['VK_ICD_FILENAMES'] = SWIFTSHADER;
  }
}

/** Why there is no device, or none that `use` can open; undefined where there is one. */
export async function whyNoWebgpu(
  use: (library: typeof import('../../src/index.ts')) => unknown,
): Promise<string | undefined> {
  const reason = whyNoGpu();
  if (reason !== undefined) return reason;
  try {
    await use(await import('../../src/index.ts'));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
