/**
 * `roc.stream()`.
 */
import { Stream } from '../stream/stream.ts';
import { currentContext } from './device.ts';

/** A new stream on the device of `roc`, an in-order queue. Numba: `roc.stream()`. */
export function stream(): Stream {
  return new Stream(currentContext(), 'created');
}
