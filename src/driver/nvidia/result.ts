/**
 * What the driver's error codes mean to a user: which error of ours, what to do, and whether the context survives.
 *
 * The driver's own name and words for a code go into every message. CUDA driver API, section CUresult.
 */
import { DriverError } from '../../errors.ts';
import { HELP } from '../launch-errors.ts';
import type { Cuda } from './library.ts';
import type { Meaning } from './vocabulary.ts';

export const CUDA_ERROR_INVALID_VALUE = 1;
export const CUDA_ERROR_OUT_OF_MEMORY = 2;
export const CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704;
export const CUDA_ERROR_NOT_READY = 600;

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
  400: { code: 'E_INVALID_HANDLE', help: 'it may be of another device, or have been destroyed' },
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
  709: { code: 'E_CONTEXT_CLOSED', help: 'somebody destroyed or reset the context', sticky: true },
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

/** Whether every later call on the context will fail as well. */
export function isSticky(result: number): boolean {
  return MEANINGS[result]?.sticky === true;
}

/** `CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered`. */
export function describeResult(cuda: Pick<Cuda, 'cuGetErrorName' | 'cuGetErrorString'>, result: number): string {
  const name: [string | null] = [null];
  const text: [string | null] = [null];
  cuda.cuGetErrorName(result, name);
  cuda.cuGetErrorString(result, text);
  return `${name[0] ?? 'CUDA error'} (${result})${text[0] === null ? '' : `: ${text[0]}`}`;
}

/** What goes with a failure, where it is known. */
export interface FailureDetails {
  /** What ran or was asked for, as a sentence of its own. */
  readonly about?: string | undefined;
  readonly launch?: string | undefined;
  readonly help?: string | undefined;
}

/** What the library calls a function. */
export function functionName(cuda: Pick<Cuda, 'vocabulary'>, api: string): string {
  return cuda.vocabulary?.functionName(api) ?? api;
}

/** The error for a result other than success. */
export function driverError(
  cuda: Pick<Cuda, 'cuGetErrorName' | 'cuGetErrorString' | 'vocabulary'>,
  result: number,
  called: string,
  { about, launch, help }: FailureDetails = {},
): DriverError {
  const api = functionName(cuda, called);
  const meaning = cuda.vocabulary === undefined ? MEANINGS[result] : cuda.vocabulary.meaning(result);
  const advice = help ?? meaning?.help;
  const message =
    `${api}: ${describeResult(cuda, result)}` +
    (about === undefined ? '' : `\n  ${about}`) +
    (advice === undefined ? '' : `\n  help: ${advice}`);
  return new DriverError(meaning?.code ?? 'E_DRIVER', message, { api, ...(launch === undefined ? {} : { launch }) });
}
