/**
 * What the CUDA driver's error codes mean to a user: which error of ours, what to do, and whether the context survives.
 *
 * CUDA driver API, section CUresult.
 */
import type { Meaning, Vocabulary } from '../cuda-api/vocabulary.ts';
import { HELP } from '../launch-errors.ts';

const LOST = 'look at nvidia-smi and the system log (Xid messages); the GPU may have to be reset or replaced';
const OLD_PTX = 'report it as a fault of Tsamba, with this message and the kernel';

const ADDRESS: Meaning = { code: 'E_ILLEGAL_ADDRESS', help: HELP.unchecked, sticky: true };
const FAILED: Meaning = { code: 'E_LAUNCH_FAILED', help: HELP.unchecked, sticky: true };
const DEVICE_LOST: Meaning = { code: 'E_DEVICE_LOST', help: LOST, sticky: true };
const PTX: Meaning = { code: 'E_PTX_REJECTED', help: OLD_PTX };

const MEANINGS: Readonly<Record<number, Meaning>> = {
  46: { code: 'E_DEVICE_LOST', help: 'the device is used exclusively by another process, or is not usable at present' },
  100: { code: 'E_NO_DEVICE', help: 'look at nvidia-smi and CUDA_VISIBLE_DEVICES' },
  101: { code: 'E_NO_DEVICE', help: 'look at nvidia-smi and CUDA_VISIBLE_DEVICES' },
  209: PTX,
  214: DEVICE_LOST,
  218: PTX,
  220: DEVICE_LOST,
  221: {
    code: 'E_PTX_REJECTED',
    help: "install all of the driver: libnvidia-ptxjitcompiler is its compiler's library",
  },
  222: { code: 'E_PTX_REJECTED', help: 'install a newer driver' },
  223: { code: 'E_PTX_REJECTED', help: 'unset CUDA_DISABLE_PTX_JIT' },
  226: DEVICE_LOST,
  304: {
    code: 'E_DRIVER',
    help: 'look at the permissions of /dev/nvidia*, and at the limits of the process (ulimit -a)',
  },
  400: { code: 'E_INVALID_HANDLE', help: 'it may belong to another device, or have been destroyed' },
  700: ADDRESS,
  701: {
    code: 'E_LAUNCH_RESOURCES',
    help: 'make the block smaller, or compile with launchBounds or maxRegisters: the block needs more registers than there are',
  },
  702: {
    code: 'E_LAUNCH_TIMEOUT',
    help: 'the GPU drives a display: split the work into shorter launches',
    sticky: true,
  },
  709: { code: 'E_CONTEXT_CLOSED', help: 'the context was destroyed or reset', sticky: true },
  710: FAILED,
  714: FAILED,
  715: FAILED,
  716: {
    code: 'E_MISALIGNED_ADDRESS',
    help: 'views with an offset must start at a multiple of the item size',
    sticky: true,
  },
  717: ADDRESS,
  718: FAILED,
  719: FAILED,
  720: {
    code: 'E_COOPERATIVE',
    help: 'all blocks of such a grid must run at the same time: launch fewer, or smaller ones',
  },
  721: FAILED,
  999: DEVICE_LOST,
};

/** libcuda's words are the API's own. */
export const CUDA_VOCABULARY: Vocabulary = {
  platform: 'CUDA',
  functionName: (api) => api,
  meaning: (result) => MEANINGS[result],
};
