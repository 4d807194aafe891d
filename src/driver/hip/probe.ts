/**
 * Whether there are AMD GPUs that HIP can use, and if not, why. Never throws.
 *
 * The library is only loaded where the kernel's driver for AMD GPUs is there: without it there is no device, and the library brings an
 * LLVM with it that aborts the process when another one of the same version (PoCL's) is or comes into it.
 */
import { variable } from '../../environment.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { attempt, nodeModule, platformName } from '../../host/index.ts';
import { describeResult } from '../cuda-api/result.ts';
import { type Hip, type HipOrReason, loadHip } from './library.ts';
import { INVALID_DEVICE, NO_DEVICE } from './result.ts';

/** The library, ready to be used, and how many devices it has; or why there are none. */
export type Probe =
  | { readonly hip: Hip; readonly count: number; readonly reason?: undefined }
  | { readonly hip?: undefined; readonly count: 0; readonly reason: string };

/** The driver in the kernel, and what stands for it in Windows' Linux subsystem. */
const DEVICE_FILES = ['/dev/kfd', '/dev/dxg'];
const VISIBLE = ['HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'GPU_DEVICE_ORDINAL'];

let probed: Probe | undefined;

/** Loads and initialises the library, once, where there can be a device. */
export function probeHip(): Probe {
  probed ??= probe();
  return probed;
}

function probe(): Probe {
  try {
    const missing = withoutDriver();
    return missing === undefined ? askLibrary(loadHip) : { count: 0, reason: missing };
  } catch (error) {
    // A runtime that has neither files nor libraries.
    return { count: 0, reason: `HIP cannot be queried: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Why the kernel has no driver for AMD GPUs that this process can use; undefined when it has. */
function withoutDriver(): string | undefined {
  if (platformName() !== 'linux') return undefined;
  const { accessSync, constants, existsSync } = nodeModule('node:fs');
  const file = DEVICE_FILES.find((name) => attempt(() => existsSync(name)));
  if (file === undefined) {
    return (
      'there is no AMD GPU, or its driver (amdgpu) is not loaded, or this container was started without it ' +
      '(docker run --device /dev/kfd --device /dev/dri): there is no /dev/kfd'
    );
  }
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return undefined;
  } catch {
    return `no permission to open ${file}: add the user to the groups render and video (ls -l ${file})`;
  }
}

/** Initialises the library and counts its devices. */
export function askLibrary(load: () => HipOrReason): Probe {
  const none = (reason: string): Probe => ({ count: 0, reason });
  try {
    const { hip, reason } = load();
    if (hip === undefined) return none(reason);
    const { cuda } = hip;
    const out = new OutParameters(hip.ffi);
    // What initialising says differs between versions where there is no device; counting says the same in all.
    const started = cuda.cuInit(0);
    const counted = cuda.cuDeviceGetCount(out.at(0));
    const failed = counted === 0 ? (out.int(0) > 0 ? started : NO_DEVICE) : counted;
    if (failed !== 0) return none(failureReason(failed, describeResult(cuda, failed)));
    return { hip, count: out.int(0) };
  } catch (error) {
    return none(`HIP cannot be queried: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Why there is no device, in words, with what to do. */
export function failureReason(result: number, said: string, env: NodeJS.ProcessEnv = process.env): string {
  if (result !== NO_DEVICE && result !== INVALID_DEVICE) return `${said}; look at rocminfo`;
  const name = VISIBLE.find((visible) => variable(visible, env) !== undefined);
  if (name !== undefined) {
    const text = variable(name, env);
    return `${name}=${text === '' ? "''" : text} leaves no device visible: unset it`;
  }
  return `${said}: ROCm's runtime finds no AMD GPU that it supports; look at rocminfo`;
}
