/**
 * WebGPU of the page or of the runtime itself (`navigator.gpu`).
 */
import type { Gpu } from './api.ts';

export function ownGpu(): Gpu | undefined {
  return (globalThis as { readonly navigator?: { readonly gpu?: Gpu } }).navigator?.gpu;
}

/** Of pages and their workers; Deno and Bun have none of it. */
export function isSecure(): boolean | undefined {
  return (globalThis as { readonly isSecureContext?: boolean }).isSecureContext;
}

/** Why a page that has no WebGPU has none. */
export function whyPageHasNone(): string {
  return isSecure() === false
    ? 'there is no navigator.gpu, as the page is not secure: serve it by https, or from localhost'
    : 'there is no navigator.gpu: this browser has no WebGPU, or it is switched off';
}
