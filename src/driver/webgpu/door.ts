/**
 * Where WebGPU is found: the page's or the runtime's own (`navigator.gpu`), else Dawn from the package `webgpu`.
 */
import { packagePath } from '../../ffi/package-path.ts';
import { nodeModule } from '../../host/index.ts';
import type { Gpu } from './api.ts';
import { isSecure, ownGpu, whyPageHasNone } from './own-gpu.ts';

interface DawnPackage {
  create(options: readonly string[]): Gpu;
}

/** Dawn's object has to live as long as anything that comes of it. */
let dawn: Promise<Gpu> | undefined;

/** Why there is no door to WebGPU here; undefined where there may be one. Loads nothing. */
export function whyNoGpu(): string | undefined {
  if (ownGpu() !== undefined) return undefined;
  if (isSecure() === true || ('location' in globalThis && isSecure() === false)) return whyPageHasNone();
  try {
    packagePath('webgpu');
    return undefined;
  } catch {
    return 'Deno' in globalThis
      ? 'there is no navigator.gpu: older versions of Deno have it with the flag --unstable-webgpu (deno run --unstable-webgpu …), or npm install webgpu'
      : 'there is no navigator.gpu, and the package "webgpu" is not installed: npm install webgpu';
  }
}

/** The door to WebGPU: the page's or the runtime's own, else Dawn's. */
export async function findGpu(): Promise<Gpu> {
  const own = ownGpu();
  if (own !== undefined) return own;
  dawn ??= loadDawn();
  return dawn;
}

/** The main file of Dawn's package; undefined where the runtime has a WebGPU of its own. */
export function dawnPath(): string | undefined {
  return ownGpu() === undefined ? packagePath('webgpu') : undefined;
}

/** By `require`: what looks like an import, bundlers follow. */
async function loadDawn(): Promise<Gpu> {
  const path = packagePath('webgpu');
  const { create } = nodeModule('node:module').createRequire(path)(path) as DawnPackage;
  return create([]);
}
