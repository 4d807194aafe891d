/**
 * Results of calls as errors of ours: in the library's own words, with what they mean and what helps, as its vocabulary says.
 *
 * CUDA driver API, section CUresult; HIP's results have the same numbers.
 */
import { DriverError } from '../../errors.ts';
import type { Cuda } from './functions.ts';

export const CUDA_ERROR_INVALID_VALUE = 1;
export const CUDA_ERROR_OUT_OF_MEMORY = 2;
export const CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704;
export const CUDA_ERROR_NOT_READY = 600;

/** What of a library its errors need. */
type Words = Pick<Cuda, 'cuGetErrorName' | 'cuGetErrorString' | 'vocabulary'>;

/** Whether every later call on the context will fail as well. */
export function isSticky({ vocabulary }: Pick<Cuda, 'vocabulary'>, result: number): boolean {
  return vocabulary.meaning(result)?.sticky === true;
}

/** `CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered`. */
export function describeResult(cuda: Words, result: number): string {
  const name: [string | null] = [null];
  const text: [string | null] = [null];
  cuda.cuGetErrorName(result, name);
  cuda.cuGetErrorString(result, text);
  return `${name[0] ?? `${cuda.vocabulary.platform} error`} (${result})${text[0] === null ? '' : `: ${text[0]}`}`;
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
  return cuda.vocabulary.functionName(api);
}

/** The error for a result other than success. */
export function driverError(
  cuda: Words,
  result: number,
  called: string,
  { about, launch, help }: FailureDetails = {},
): DriverError {
  const api = functionName(cuda, called);
  const meaning = cuda.vocabulary.meaning(result);
  const advice = help ?? meaning?.help;
  const message =
    `${api}: ${describeResult(cuda, result)}` +
    (about === undefined ? '' : `\n  ${about}`) +
    (advice === undefined ? '' : `\n  help: ${advice}`);
  return new DriverError(meaning?.code ?? 'E_DRIVER', message, { api, ...(launch === undefined ? {} : { launch }) });
}
