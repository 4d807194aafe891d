/**
 * Whether there are NVIDIA devices that can be used, and if not, why. Never throws.
 */
import { variable } from '../../environment.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { nodeModule } from '../../host/index.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { describeResult } from '../cuda-api/result.ts';
import { loadCuda, versionText } from './library.ts';
import { startDriver } from './warm-up.ts';

const NO_DEVICE = 100;
const UNKNOWN = 999;

/** The driver, ready to be used, and how many devices it has; or why there are none. */
export type Probe =
  | { readonly cuda: Cuda; readonly count: number; readonly reason?: undefined }
  | { readonly cuda?: undefined; readonly count: 0; readonly reason: string };

let probed: Probe | undefined;

/** Loads and initialises the driver, once. */
export function probeCuda(): Probe {
  probed ??= probe();
  return probed;
}

function probe(): Probe {
  const none = (reason: string): Probe => ({ count: 0, reason });
  try {
    const { cuda, reason } = loadCuda();
    if (cuda === undefined) return none(reason);
    startDriver(cuda);
    const result = cuda.cuInit(0);
    if (result !== 0) return none(initReason(result, describeResult(cuda, result), cuda.version));
    const out = new OutParameters(cuda.ffi);
    const counted = cuda.cuDeviceGetCount(out.at(0));
    if (counted !== 0) return none(initReason(counted, describeResult(cuda, counted), cuda.version));
    const count = out.int(0);
    return count > 0 ? { cuda, count } : none(initReason(NO_DEVICE, 'the driver finds no device', cuda.version));
  } catch (error) {
    return none(`the driver cannot be queried: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Why `cuInit` failed, in words, with what to do. */
export function initReason(
  result: number,
  said: string,
  version: number,
  visible: string | undefined = variable('CUDA_VISIBLE_DEVICES'),
  forbidden: string | undefined = forbiddenDevice(),
): string {
  const driver = `the installed driver knows CUDA ${versionText(version)}`;
  switch (result) {
    case NO_DEVICE:
      if (visible !== undefined) {
        return `CUDA_VISIBLE_DEVICES=${visible === '' ? "''" : visible} leaves no device visible: unset it`;
      }
      if (forbidden !== undefined) return noPermission(forbidden);
      return `${said}: there is no NVIDIA GPU, or this container was started without it (docker run --gpus all)`;
    case 34:
      return `${said}: libcuda.so.1 is a stub of the toolkit, not the driver; take its folder out of LD_LIBRARY_PATH`;
    case 802:
      return `${said}: on systems with NVSwitch the service nvidia-fabricmanager must run`;
    case 803:
      return `${said}: the driver's library and its kernel module are of different versions, as after an update: reboot, or reload the module (${driver})`;
    case 804:
      return `${said}: the forward-compatibility package does not support this GPU; remove it (cuda-compat) (${driver})`;
    default:
      if (forbidden !== undefined) return noPermission(forbidden);
      if (result === UNKNOWN) return `${said}: the kernel module is not loaded or does not answer; look at nvidia-smi`;
      return `${said} (${driver})`;
  }
}

function noPermission(file: string): string {
  return `no permission to open ${file}: add the user to its group (ls -l ${file})`;
}

/** A device file that is there but may not be opened. */
function forbiddenDevice(): string | undefined {
  const { accessSync, constants, existsSync } = nodeModule('node:fs');
  return ['/dev/nvidiactl', '/dev/nvidia0', '/dev/nvidia-uvm'].find((file) => {
    if (!existsSync(file)) return false;
    try {
      accessSync(file, constants.R_OK | constants.W_OK);
      return false;
    } catch {
      return true;
    }
  });
}
