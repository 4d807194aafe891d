/**
 * The host's side of copies in normal form: where its elements are, and copies between two buffers of the host, with which elements are
 * gathered before they go to a device and scattered when they have come.
 */
import { TsambaRangeError } from '../../errors.ts';
import type { HostSide } from '../driver.ts';
import { copyStrided } from '../strided.ts';
import { span, type Walk } from './walk.ts';

/** Host memory; offsets of a walk count from `offset`. */
export type HostSpan = Pick<HostSide, 'bytes' | 'offset'>;

/** The host's side of a copy, once all its elements are known to lie in the bytes given. */
export function hostSpan(walk: Walk, side: 't' | 's', host: HostSpan): HostSpan {
  const [low, high] = span(walk, side);
  const { bytes, offset } = host;
  if (offset + low < 0 || offset + high > bytes.length) {
    throw new TsambaRangeError(
      'E_BOUNDS',
      `copy: the host's side touches bytes ${offset + low} to ${offset + high} of a buffer of ${bytes.length} bytes`,
    );
  }
  return host;
}

/** `bytes` bytes from `low` on. */
export function part(host: HostSpan, low: number, bytes: number): Uint8Array {
  return host.bytes.subarray(host.offset + low, host.offset + low + bytes);
}

/** Makes the copy between two buffers of the host. */
export function copyOnHost(walk: Walk, target: HostSpan, source: HostSpan): void {
  const { axes, item, t, s } = walk;
  copyStrided({
    target: { bytes: target.bytes, offset: target.offset + t, strides: axes.map((axis) => axis.t) },
    source: { bytes: source.bytes, offset: source.offset + s, strides: axes.map((axis) => axis.s) },
    shape: axes.map(({ n }) => n),
    itemSize: item,
  });
}
