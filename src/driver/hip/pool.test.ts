/**
 * The pool over `hipMalloc`, on the model of HIP: it does work of streams as late as it can, so memory that is handed out too early shows.
 */
import { describe, expect, it } from 'vitest';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { HipModel } from './hip-model.testing.ts';
import { bindHip } from './library.ts';
import { blockBytes, withOwnPool } from './pool.ts';

const RESERVED = 5;
const USED = 7;

function open() {
  const model = new HipModel();
  const { hip, reason } = bindHip(model.ffi, model);
  if (hip === undefined) throw new Error(reason);
  const cuda = withOwnPool(hip.cuda);
  const out = new OutParameters(hip.ffi);
  const stream = (): number => {
    expect(cuda.cuStreamCreate(out.at(0), 1)).toBe(0);
    return out.long(0);
  };
  const allocate = (bytes: number, on: number): number => {
    const result = cuda.cuMemAllocAsync?.(out.at(0), bytes, on);
    if (result !== 0) throw new Error(`result ${result}`);
    return out.long(0);
  };
  const free = (address: number, on: number): void => {
    expect(cuda.cuMemFreeAsync?.(address, on)).toBe(0);
  };
  const attribute = (which: number): number => {
    expect(cuda.cuMemPoolGetAttribute?.(1, which, out.at(0))).toBe(0);
    return out.long(0);
  };
  return { model, cuda, stream, allocate, free, attribute };
}

describe('the pool over hipMalloc', () => {
  it('has eight sizes to an octave, none smaller than 512 bytes', () => {
    expect([1, 512, 513, 4096, 4097, 5000].map(blockBytes)).toEqual([512, 512, 1024, 4096, 4608, 5120]);
    for (let bytes = 4096; bytes < 2 ** 40; bytes = Math.floor(bytes * 1.37)) {
      expect(blockBytes(bytes)).toBeGreaterThanOrEqual(bytes);
      expect(blockBytes(bytes)).toBeLessThanOrEqual(bytes * 1.125);
      expect(blockBytes(blockBytes(bytes))).toBe(blockBytes(bytes));
    }
  });

  it('gives a block at once to the stream on which it was freed', () => {
    const { cuda, stream, allocate, free } = open();
    const s = stream();
    const address = allocate(1000, s);
    cuda.cuMemsetD8Async(address, 1, 1000, s);
    free(address, s);
    expect(allocate(900, s)).toBe(address);
  });

  it('gives it to other streams when the work before has been done', () => {
    const { cuda, stream, allocate, free } = open();
    const [s, t] = [stream(), stream()];
    const address = allocate(1000, s);
    cuda.cuMemsetD8Async(address, 1, 1000, s);
    free(address, s);
    expect(allocate(1000, t)).not.toBe(address);
    cuda.cuStreamSynchronize(s);
    expect(allocate(1000, t)).toBe(address);
  });

  it('takes a stream with the handle of one that is gone for another', () => {
    const { cuda, stream, allocate, free } = open();
    const s = stream();
    const address = allocate(1000, s);
    cuda.cuMemsetD8Async(address, 1, 1000, s);
    free(address, s);
    cuda.cuStreamDestroy(s);
    expect(allocate(1000, s)).not.toBe(address);
  });

  it('does not trust the handles of other libraries, which may destroy their streams', () => {
    const { cuda, allocate, free } = open();
    const foreign = 0x7777;
    const address = allocate(1000, foreign);
    cuda.cuMemsetD8Async(address, 1, 1000, foreign);
    free(address, foreign);
    expect(allocate(1000, foreign)).not.toBe(address);
  });

  it('says what it has, and gives all that is idle back', () => {
    const { model, cuda, allocate, free, attribute } = open();
    const [a, b] = [allocate(1000, 0), allocate(2000, 0)];
    expect([attribute(RESERVED), attribute(USED)]).toEqual([3072, 3072]);
    free(a, 0);
    expect([attribute(RESERVED), attribute(USED)]).toEqual([3072, 2048]);
    expect(cuda.cuMemPoolTrimTo?.(1, 0)).toBe(0);
    expect([attribute(RESERVED), attribute(USED)]).toEqual([2048, 2048]);
    expect(model.cuda.live).toBe(2048);
    free(b, 0);
    expect(cuda.cuMemFreeAsync?.(b, 0)).not.toBe(0);
  });

  it('never lets two pieces of work have the same memory at a time', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { model, cuda, stream, allocate, free } = open();
      let state = seed;
      const below = (n: number): number => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return (state >>> 8) % n;
      };
      const streams = [stream(), stream(), stream()];
      const results: { readonly address: number; readonly tag: number }[] = [];
      const held: { readonly address: number; readonly tag: number; readonly on: number }[] = [];
      for (let step = 0; step < 60; step++) {
        const on = streams[below(3)] ?? 0;
        const [last] = below(2) === 0 ? held.splice(below(held.length), 1) : [];
        if (last !== undefined) {
          const out = allocate(100_000 + 20_000 * step, last.on);
          cuda.cuMemcpyDtoDAsync(out, last.address, 64, last.on);
          results.push({ address: out, tag: last.tag });
          free(last.address, last.on);
        } else {
          const address = allocate(64 + 600 * below(2), on);
          cuda.cuMemsetD8Async(address, 1 + step, 64, on);
          held.push({ address, tag: 1 + step, on });
        }
        if (below(6) === 0) cuda.cuStreamSynchronize(streams[below(3)] ?? 0);
      }
      for (const s of streams.sort(() => below(3) - 1)) cuda.cuStreamSynchronize(s);
      for (const { address, tag } of results) {
        expect([...new Set(model.cuda.bytesAt(address, 64))], `seed ${seed}`).toEqual([tag]);
      }
    }
  });
});
