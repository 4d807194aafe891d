/**
 * What HIP's results mean to a user. Their numbers are those of the CUDA driver API; what helps is not.
 *
 * HIP runtime API reference, section "Error codes" (hipError_t). Most faults of memory never become a result: the runtime ends the
 * process, with a line about the address on standard error.
 */

import type { Meaning } from '../cuda-api/vocabulary.ts';
import { HELP } from '../launch-errors.ts';

export const NO_DEVICE = 100;
export const INVALID_DEVICE = 101;

const LOST = 'look at rocm-smi and the system log (amdgpu); the GPU may have to be reset';
const WRONG_CODE =
  'the code object is not for this GPU, or of a newer version than its runtime accepts: report it, with this message and the kernel';

const FAILED: Meaning = { code: 'E_LAUNCH_FAILED', help: HELP.unchecked, sticky: true };
const DEVICE_LOST: Meaning = { code: 'E_DEVICE_LOST', help: LOST, sticky: true };
const NONE: Meaning = { code: 'E_NO_DEVICE', help: 'look at rocminfo, HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES' };
const CODE: Meaning = { code: 'E_HIP_REJECTED', help: WRONG_CODE };

const MEANINGS: Readonly<Record<number, Meaning>> = {
  [NO_DEVICE]: NONE,
  [INVALID_DEVICE]: NONE,
  200: CODE,
  209: CODE,
  214: DEVICE_LOST,
  218: CODE,
  304: { code: 'E_DRIVER', help: 'look at the permissions of /dev/kfd and /dev/dri/render*, and at ulimit -a' },
  400: { code: 'E_INVALID_HANDLE', help: 'it may belong to another device, or have been destroyed' },
  700: { code: 'E_ILLEGAL_ADDRESS', help: HELP.unchecked, sticky: true },
  701: {
    code: 'E_LAUNCH_RESOURCES',
    help: 'make the block smaller, or compile with launchBounds: the block needs more registers or shared memory than there are',
  },
  702: { code: 'E_LAUNCH_TIMEOUT', help: 'split the work into shorter launches', sticky: true },
  709: { code: 'E_CONTEXT_CLOSED', help: 'the device was reset', sticky: true },
  710: FAILED,
  719: FAILED,
  999: DEVICE_LOST,
};

/** What is known of a result; undefined of most. */
export function hipMeaning(result: number): Meaning | undefined {
  return MEANINGS[result];
}
