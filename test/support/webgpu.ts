/**
 * What tests on WebGPU in Node.js have in common: the adapter.
 */
import { existsSync } from 'node:fs';
import { whyNoGpu } from '../../src/driver/webgpu/door.ts';

/** SwiftShader, as Debian's Chromium brings it: it computes on the processor. */
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** Mesa's software adapters of Vulkan, by where Debian's newer packages and its older ones put them: older ones end loops early. */
export const LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.json';
const OLD_LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json';

/** What there is of Mesa's software adapter. */
export function anyLavapipe(): string | undefined {
  return [LAVAPIPE, OLD_LAVAPIPE].find((file) => existsSync(file));
}

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
