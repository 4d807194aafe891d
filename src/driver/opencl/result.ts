/**
 * What OpenCL's error codes mean to a user: which error of ours, and what to do. OpenCL API specification, appendix "Error Codes".
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import { HELP } from '../launch-errors.ts';

export const CL_SUCCESS = 0;
export const CL_DEVICE_NOT_FOUND = -1;
export const CL_OUT_OF_RESOURCES = -5;
export const CL_PROFILING_INFO_NOT_AVAILABLE = -7;
export const CL_BUILD_PROGRAM_FAILURE = -11;
export const CL_INVALID_BUFFER_SIZE = -61;
export const CL_PLATFORM_NOT_FOUND_KHR = -1001;

const MEM_OBJECT_ALLOCATION_FAILURE = -4;
const OUT_OF_HOST_MEMORY = -6;

const NAMES: Readonly<Record<number, string>> = {
  [-1]: 'CL_DEVICE_NOT_FOUND',
  [-2]: 'CL_DEVICE_NOT_AVAILABLE',
  [-3]: 'CL_COMPILER_NOT_AVAILABLE',
  [-4]: 'CL_MEM_OBJECT_ALLOCATION_FAILURE',
  [-5]: 'CL_OUT_OF_RESOURCES',
  [-6]: 'CL_OUT_OF_HOST_MEMORY',
  [-7]: 'CL_PROFILING_INFO_NOT_AVAILABLE',
  [-8]: 'CL_MEM_COPY_OVERLAP',
  [-11]: 'CL_BUILD_PROGRAM_FAILURE',
  [-12]: 'CL_MAP_FAILURE',
  [-13]: 'CL_MISALIGNED_SUB_BUFFER_OFFSET',
  [-14]: 'CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST',
  [-15]: 'CL_COMPILE_PROGRAM_FAILURE',
  [-16]: 'CL_LINKER_NOT_AVAILABLE',
  [-17]: 'CL_LINK_PROGRAM_FAILURE',
  [-30]: 'CL_INVALID_VALUE',
  [-32]: 'CL_INVALID_PLATFORM',
  [-33]: 'CL_INVALID_DEVICE',
  [-34]: 'CL_INVALID_CONTEXT',
  [-35]: 'CL_INVALID_QUEUE_PROPERTIES',
  [-36]: 'CL_INVALID_COMMAND_QUEUE',
  [-37]: 'CL_INVALID_HOST_PTR',
  [-38]: 'CL_INVALID_MEM_OBJECT',
  [-42]: 'CL_INVALID_BINARY',
  [-43]: 'CL_INVALID_BUILD_OPTIONS',
  [-44]: 'CL_INVALID_PROGRAM',
  [-45]: 'CL_INVALID_PROGRAM_EXECUTABLE',
  [-46]: 'CL_INVALID_KERNEL_NAME',
  [-48]: 'CL_INVALID_KERNEL',
  [-49]: 'CL_INVALID_ARG_INDEX',
  [-50]: 'CL_INVALID_ARG_VALUE',
  [-51]: 'CL_INVALID_ARG_SIZE',
  [-52]: 'CL_INVALID_KERNEL_ARGS',
  [-53]: 'CL_INVALID_WORK_DIMENSION',
  [-54]: 'CL_INVALID_WORK_GROUP_SIZE',
  [-55]: 'CL_INVALID_WORK_ITEM_SIZE',
  [-56]: 'CL_INVALID_GLOBAL_OFFSET',
  [-57]: 'CL_INVALID_EVENT_WAIT_LIST',
  [-58]: 'CL_INVALID_EVENT',
  [-59]: 'CL_INVALID_OPERATION',
  [-61]: 'CL_INVALID_BUFFER_SIZE',
  [-63]: 'CL_INVALID_GLOBAL_WORK_SIZE',
  [-1001]: 'CL_PLATFORM_NOT_FOUND_KHR',
  [-9999]: 'an illegal read or write of a buffer',
};

/** What is known of a result beyond its name. */
interface Meaning {
  readonly code: string;
  readonly help: string;
}

const GROUP: Meaning = {
  code: 'E_LAUNCH_RESOURCES',
  help: 'make the block smaller, or use less shared memory: the device cannot hold such a group of work items for this kernel',
};

const MEANINGS: Readonly<Record<number, Meaning>> = {
  [-1]: { code: 'E_NO_DEVICE', help: 'run clinfo -l: it lists platforms and their devices' },
  [-2]: { code: 'E_DEVICE_LOST', help: 'the device is not usable at present: look at clinfo and the system log' },
  [-3]: { code: 'E_BUILD_FAILED', help: 'this OpenCL implementation has no compiler: install all of its packages' },
  [-5]: {
    code: 'E_LAUNCH_RESOURCES',
    help: `${HELP.unchecked}; or the kernel needs more than the device has: make the block smaller`,
  },
  [-14]: { code: 'E_LAUNCH_FAILED', help: HELP.unchecked },
  [-36]: {
    code: 'E_DEVICE_LOST',
    help: `an earlier kernel was stopped by the device. ${HELP.unchecked}; a new process is needed`,
  },
  [-54]: GROUP,
  [-55]: GROUP,
  [-9999]: { code: 'E_ILLEGAL_ADDRESS', help: HELP.unchecked },
};

/** `CL_INVALID_VALUE (-30)`. */
export function describeResult(result: number): string {
  return `${NAMES[result] ?? 'OpenCL error'} (${result})`;
}

/** Whether a result says that there is no memory of some kind left. */
export function isOutOfMemory(result: number): boolean {
  return result === MEM_OBJECT_ALLOCATION_FAILURE || result === OUT_OF_HOST_MEMORY;
}

/** What goes with a failure, where it is known. */
export interface FailureDetails {
  /** What ran or was asked for, as a sentence of its own. */
  readonly about?: string | undefined;
  readonly launch?: string | undefined;
  readonly help?: string | undefined;
}

/** The error for a result other than success. */
export function driverError(
  result: number,
  api: string,
  device: string,
  { about, launch, help }: FailureDetails = {},
): DriverError {
  if (isOutOfMemory(result)) {
    return new OutOfMemoryError(`${api}: ${describeResult(result)}: no memory left on ${device}`, {
      asked: 0,
      live: 0,
      pending: 0,
      pooled: 0,
    });
  }
  const meaning = MEANINGS[result];
  const advice = help ?? meaning?.help;
  const message =
    `${api}: ${describeResult(result)} on ${device}` +
    (about === undefined ? '' : `\n  ${about}`) +
    (advice === undefined ? '' : `\n  help: ${advice}`);
  return new DriverError(meaning?.code ?? 'E_DRIVER', message, { api, ...(launch === undefined ? {} : { launch }) });
}
