/** Strided copies and fills of every layout, against loops over single elements, on an OpenCL device. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectBytes } from '../../../test/support/same.ts';
import {
  copyCases,
  copyElements,
  download,
  fill,
  fillCases,
  move,
  noise,
  side,
  upload,
} from '../copies/cases.testing.ts';
import type { OpenCLDriver } from './device.ts';
import { hasOpenCL, openTestDevice } from './opencl.testing.ts';

const runs = { numRuns: 60 };
const settings = { timeout: 300_000 };

describe.skipIf(!hasOpenCL())('copies of strided regions', settings, () => {
  let device: OpenCLDriver;
  beforeAll(() => {
    device = openTestDevice();
  });
  afterAll(() => device.close());

  /** Memory with these bytes. */
  const memoryOf = (bytes: Uint8Array): number => {
    const pointer = Number(device.allocate(bytes.length));
    device.copyToDevice(pointer, bytes);
    return pointer;
  };
  const bytesAt = (pointer: number, count: number): Uint8Array => {
    const bytes = new Uint8Array(count);
    device.copyToHost(bytes, pointer);
    device.free(pointer);
    return bytes;
  };

  it('to the device touch the elements and nothing else', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const from = noise(s.bytes);
        const expected = new Uint8Array(t.bytes).fill(0xee);
        const base = memoryOf(expected);
        copyElements(c, expected, t.first, from, s.first);
        device.copyToDeviceStrided(upload(c, base + t.first, from, s.first));
        expectBytes(bytesAt(base, t.bytes), expected);
      }),
      runs,
    );
  });

  it('to the host touch the elements and nothing else', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const base = memoryOf(noise(s.bytes));
        const to = new Uint8Array(t.bytes).fill(0xee);
        const expected = to.slice();
        copyElements(c, expected, t.first, noise(s.bytes), s.first);
        device.copyToHostStrided(download(c, to, t.first, base + s.first));
        expectBytes(to, expected);
        device.free(base);
      }),
      runs,
    );
  });

  it('to the host later give the same', async () => {
    const stream = device.createStream();
    await fc.assert(
      fc.asyncProperty(copyCases, async (c) => {
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const base = memoryOf(noise(s.bytes));
        const to = new Uint8Array(t.bytes).fill(0xee);
        const expected = to.slice();
        copyElements(c, expected, t.first, noise(s.bytes), s.first);
        const filled = device.copyToHostLater(download(c, to, t.first, base + s.first), stream);
        device.fillStrided(
          { target: { pointer: base, strides: [1] }, shape: [s.bytes], pattern: Uint8Array.of(1) },
          stream,
        );
        await filled;
        expectBytes(to, expected);
        device.free(base, stream);
      }),
      runs,
    );
    device.destroyStream(stream);
  });

  it('on the device touch the elements and nothing else', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const expected = new Uint8Array(t.bytes).fill(0xee);
        const [target, source] = [memoryOf(expected), memoryOf(noise(s.bytes))];
        copyElements(c, expected, t.first, noise(s.bytes), s.first);
        device.copyOnDeviceStrided(move(c, target + t.first, source + s.first));
        expectBytes(bytesAt(target, t.bytes), expected);
        device.free(source);
      }),
      runs,
    );
  });

  it('within one array behave as if the source had been copied out first', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const expected = noise(Math.max(t.bytes, s.bytes));
        const base = memoryOf(expected);
        copyElements(c, expected, t.first, noise(expected.length), s.first);
        device.copyOnDeviceStrided(move(c, base + t.first, base + s.first));
        expectBytes(bytesAt(base, expected.length), expected);
      }),
      runs,
    );
  });

  it('of a pattern write it to the elements and nowhere else', () => {
    fc.assert(
      fc.property(fillCases, (c) => {
        const t = side(c.shape, c.target, c.itemSize, c.shiftT);
        const expected = new Uint8Array(t.bytes).fill(0xee);
        const base = memoryOf(expected);
        copyElements({ ...c, source: c.shape.map(() => 0) }, expected, t.first, c.pattern, 0);
        device.fillStrided(fill(c, base + t.first));
        expectBytes(bytesAt(base, t.bytes), expected);
      }),
      runs,
    );
  });

  it('take every element of large arrays', () => {
    const n = 300;
    const from = noise(4 * n * n);
    const to = new Uint8Array(4 * n * n);
    const base = memoryOf(to);
    const turned = { shape: [n, n], itemSize: 4, target: [4, 4 * n], source: [4 * n, 4] };
    device.copyToDeviceStrided(upload(turned, base, from, 0));
    device.copyToHostStrided(download(turned, to, 0, base));
    expect(Buffer.compare(to, from)).toBe(0);
    device.free(base);
  });
});
