/**
 * What goes wrong between processes: one class for all of it, which says who it was.
 */
import { DriverError } from '../errors.ts';

/** Codes of `CommunicatorError`. */
export type CommunicatorCode = 'E_NCCL' | 'E_NCCL_LOST' | 'E_NCCL_TIMEOUT' | 'E_NCCL_ABORTED' | 'E_NCCL_MISMATCH';

/** A collective that cannot be completed: a rank was lost, did not arrive in time, aborted, or called something else. */
export class CommunicatorError extends DriverError {
  /** `'CommunicatorError'`. */
  override readonly name: string = 'CommunicatorError';
  /** The rank at fault, if known: its number in the communicator returned by `init`. */
  readonly rank: number | undefined;
  constructor(code: CommunicatorCode, message: string, details: { rank?: number; api?: string; cause?: unknown } = {}) {
    super(code, message, {
      api: details.api ?? 'nccl',
      ...(details.cause === undefined ? {} : { cause: details.cause }),
    });
    this.rank = details.rank;
  }
}

/** The error of a rank whose connection ended before it said goodbye. */
export function lostRank(rank: number, during: string): CommunicatorError {
  return new CommunicatorError(
    'E_NCCL_LOST',
    `rank ${rank} was lost${during}: its process ended or its connection broke; see what it printed last`,
    { rank },
  );
}
