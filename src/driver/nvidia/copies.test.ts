/** Strided copies and fills of every layout, against loops over single elements, on a model of libcuda. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectBytes } from '../../../test/support/same.ts';
import { randomCases } from '../../required.testing.ts';
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
import { Copies } from '../cuda-api/copies/copies.ts';
import { CudaModel } from './copy-model.testing.ts';

/** Written addresses from `base` on, relative to it. */
function within(model: CudaModel, base: number, bytes: number): number[] {
  return [...model.written].filter((a) => a >= base && a < base + bytes).map((a) => a - base);
}

const runs = { numRuns: randomCases(200) };

describe('copies of strided regions', () => {
  it('to the device touch the elements and nothing else', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const cuda = new CudaModel();
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const from = noise(s.bytes);
        const base = cuda.allocate(t.bytes);
        const expected = new Uint8Array(t.bytes);
        const touched = copyElements(c, expected, t.first, from, s.first);
        new Copies(cuda.device).copyToDeviceStrided(upload(c, base + t.first, from, s.first));
        expectBytes(cuda.bytesAt(base, t.bytes), expected);
        expect(new Set(within(cuda, base, t.bytes))).toEqual(touched);
        expect(cuda.live).toBe(0);
      }),
      runs,
    );
  });

  it('to the host touch the elements and nothing else', () => {
    fc.assert(
      fc.property(copyCases, (c) => {
        const cuda = new CudaModel();
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const base = cuda.allocate(s.bytes);
        cuda.bytesAt(base, s.bytes).set(noise(s.bytes));
        // What is between the elements must not be written, not even with what was there: it changes under the copy.
        const to = new Uint8Array(t.bytes).fill(0xee);
        const expected = to.slice();
        const touched = copyElements(c, expected, t.first, noise(s.bytes), s.first);
        new Copies(cuda.device).copyToHostStrided(download(c, to, t.first, base + s.first));
        expectBytes(to, expected);
        const at = cuda.address(to);
        expect(within(cuda, at, t.bytes).filter((byte) => !touched.has(byte))).toEqual([]);
        expect(cuda.live).toBe(0);
      }),
      runs,
    );
  });

  it('to the host later give the same', async () => {
    await fc.assert(
      fc.asyncProperty(copyCases, async (c) => {
        const cuda = new CudaModel();
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const base = cuda.allocate(s.bytes);
        cuda.bytesAt(base, s.bytes).set(noise(s.bytes));
        const to = new Uint8Array(t.bytes).fill(0xee);
        const expected = to.slice();
        copyElements(c, expected, t.first, noise(s.bytes), s.first);
        const later = new Copies(cuda.device).copyToHostLater(download(c, to, t.first, base + s.first));
        // The source may change as soon as the call has returned.
        cuda.bytesAt(base, s.bytes).fill(0);
        await later;
        expectBytes(to, expected);
        expect(cuda.live).toBe(0);
      }),
      { numRuns: randomCases(200) },
    );
  });

  it('on the device behave as if the source had been copied out first, overlap or not', () => {
    fc.assert(
      fc.property(copyCases, fc.boolean(), fc.integer({ min: 0, max: 60 }), (c, overlap, distance) => {
        const cuda = new CudaModel();
        const [t, s] = [side(c.shape, c.target, c.itemSize, c.shiftT), side(c.shape, c.source, c.itemSize, c.shiftS)];
        const gap = overlap ? distance : t.bytes;
        const bytes = gap + s.bytes + t.bytes;
        const base = cuda.allocate(bytes);
        cuda.bytesAt(base, bytes).set(noise(bytes));
        const expected = noise(bytes);
        const touched = copyElements(c, expected, t.first, noise(bytes), gap + s.first);
        const copies = new Copies(cuda.device);
        copies.copyOnDeviceStrided(move(c, base + t.first, base + gap + s.first));
        expectBytes(cuda.bytesAt(base, bytes), expected);
        expect(within(cuda, base, bytes).filter((byte) => !touched.has(byte))).toEqual([]);
        expect(cuda.live).toBe(0);
      }),
      runs,
    );
  });
});

describe('fills', () => {
  it('write the pattern to the elements and nothing else', () => {
    fc.assert(
      fc.property(fillCases, (c) => {
        const cuda = new CudaModel();
        const t = side(c.shape, c.target, c.itemSize, c.shiftT);
        const base = cuda.allocate(t.bytes);
        const expected = new Uint8Array(t.bytes);
        const still = { ...c, source: c.shape.map(() => 0) };
        const touched = copyElements(still, expected, t.first, c.pattern, 0);
        new Copies(cuda.device).fillStrided(fill(c, base + t.first));
        expectBytes(cuda.bytesAt(base, t.bytes), expected);
        expect(new Set(within(cuda, base, t.bytes))).toEqual(touched);
        expect(cuda.live).toBe(0);
      }),
      runs,
    );
  });

  it('use the driver for what is contiguous', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const base = cuda.allocate(4096);
    const zero = new Uint8Array(8);
    copies.fillStrided({ target: { pointer: base, strides: [80, 8] }, shape: [10, 10], pattern: zero });
    copies.fillStrided({ target: { pointer: base, strides: [2] }, shape: [10], pattern: Uint8Array.of(1, 2) });
    copies.fillStrided({
      target: { pointer: base + 40, strides: [-4] },
      shape: [10],
      pattern: Uint8Array.of(1, 2, 3, 4),
    });
    expect(cuda.calls).toEqual(['cuMemsetD8Async', 'cuMemsetD16Async', 'cuMemsetD32Async']);
  });
});

describe('contiguous copies', () => {
  it('are single calls', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const base = cuda.allocate(100);
    copies.copyToDevice(base, noise(100));
    copies.copyOnDevice(base, base + 50, 50);
    const to = new Uint8Array(100);
    copies.copyToHost(to, base);
    expect(to).toEqual(new Uint8Array([...noise(100).slice(50), ...noise(100).slice(50)]));
    expect(cuda.calls).toEqual(['cuMemcpyHtoD', 'cuMemcpyDtoDAsync', 'cuMemcpyDtoH']);
  });

  it('on a stream only enqueue', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const base = cuda.allocate(100);
    const stream = { stream: {} };
    copies.copyToDevice(base, noise(100), stream);
    copies.copyToHost(new Uint8Array(100), base, stream);
    expect(cuda.calls).toEqual(['cuMemcpyHtoDAsync', 'cuMemcpyDtoHAsync']);
  });

  it('may overlap on the device', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const base = cuda.allocate(100);
    copies.copyToDevice(base, noise(100));
    copies.copyOnDevice(base + 10, base, 90);
    expect(cuda.bytesAt(base, 100)).toEqual(new Uint8Array([...noise(100).slice(0, 10), ...noise(100).slice(0, 90)]));
    copies.copyOnDevice(base, base, 100);
    copies.copyOnDevice(base, base, 0);
    expect(cuda.live).toBe(0);
  });

  it('take a way round where only a part of the host memory is registered', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const base = cuda.allocate(100);
    const host = noise(100);
    cuda.partly = host.buffer;
    const region = { shape: [5, 10], itemSize: 1 };
    copies.copyToDevice(base, host);
    expect(cuda.bytesAt(base, 100)).toEqual(noise(100));
    cuda.bytesAt(base, 100).fill(0);
    copies.copyToDeviceStrided({
      target: { pointer: base, strides: [12, 1] },
      source: { bytes: host, offset: 0, strides: [20, 1] },
      ...region,
    });
    expect(cuda.bytesAt(base + 48, 11)).toEqual(new Uint8Array([...noise(100).slice(80, 90), 0]));
    copies.copyToHostStrided({
      target: { bytes: host, offset: 0, strides: [20, 1] },
      source: { pointer: base + 12, strides: [0, 1] },
      ...region,
    });
    expect(host.slice(79, 91)).toEqual(
      new Uint8Array([...noise(100).slice(79, 80), ...noise(100).slice(20, 30), 90 * 37 + 11]),
    );
    copies.copyToHost(host, base);
    expect(host.slice(12, 22)).toEqual(noise(100).slice(20, 30));
  });

  it('of host elements outside their buffer are refused', () => {
    const cuda = new CudaModel();
    const copies = new Copies(cuda.device);
    const region = { shape: [4], itemSize: 4 };
    const base = cuda.allocate(64);
    const device = { pointer: base, strides: [4] };
    const small = { bytes: new Uint8Array(12), offset: 0, strides: [4] };
    const early = { bytes: new Uint8Array(64), offset: 8, strides: [-4] };
    expect(() => copies.copyToDeviceStrided({ target: device, source: small, ...region })).toThrow(/bytes 0 to 16/);
    expect(() => copies.copyToHostStrided({ target: early, source: device, ...region })).toThrow(/bytes -4 to 12/);
  });
});
