/**
 * A HIP device's pipeline from a typed kernel to a code object: the passes and the renderer of OpenCL C, in its HIP dialect, then
 * ROCm's compiler.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { OpenCLModule, OpenCLOptions, OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { openclPipeline } from '../opencl/compile.ts';
import { compileHip } from './compiler.ts';
import type { Runtime } from './library.ts';

/** What code is made for. */
export interface HipTarget {
  readonly target: OpenCLTarget;
  /** `gfx90a`, or with features. */
  readonly arch: string;
  readonly identity?: string | undefined;
  readonly runtime?: Runtime | undefined;
}

/** A kernel's text, how it is called, and its code. */
export interface HipModule {
  readonly source: OpenCLModule;
  readonly code: Uint8Array;
}

/** How kernels become code. Tests bring their own. */
export interface HipPipeline {
  /** Compiles a verified kernel for one architecture. Synchronous; throws NotSupportedError for what the device cannot do. */
  compile(kernel: Kernel, target: HipTarget, options: OpenCLOptions): HipModule;
}

export const hipPipeline: HipPipeline = {
  compile(kernel, { target, arch, identity, runtime }, options) {
    const source = openclPipeline.compile(kernel, { ...target, arch }, options);
    const request = { name: options.name, arch, options: source.buildOptions, identity, runtime };
    return { source, code: compileHip(source.text, request) };
  },
};
