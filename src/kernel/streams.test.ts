import { beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueingDriver } from '../../test/support/queueing-driver.ts';
import { grid } from '../cuda/geometry.ts';
import { stream as createStream, jit, toDevice } from '../cuda/host.ts';
import type { Pointer, Program, StreamHandle } from '../driver/driver.ts';
import type { f32 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { MemoryOwner } from '../memory/owner.ts';
import { In } from './hints.ts';
import type { Vec } from './types.ts';

const COUNT = 4;

/**
 * A device that works when somebody waits, and whose only kernel adds one to every element: what matters here is when it runs
 * and what memory it touches.
 */
class LateDevice extends QueueingDriver {
  override load(program: Program): ReturnType<QueueingDriver['load']> {
    const base = program.kernel.params.findIndex(({ origin }) => origin.kind === 'base');
    return {
      attributes: { registers: 0, sharedBytes: 0, localBytes: 0, constBytes: 0, maxThreadsPerBlock: 1024 },
      launch: (_shape, args, stream) => {
        const pointer = args[base] as Pointer;
        this.enqueue(stream, () => this.#addOne(pointer));
      },
      inspect: () => undefined,
      suggestBlock: () => 256,
      activeBlocks: () => 1,
      unload: () => undefined,
    };
  }

  #addOne(pointer: Pointer): void {
    const values = new Float32Array(COUNT);
    const bytes = new Uint8Array(values.buffer);
    this.device.copyToHost(bytes, pointer);
    this.device.copyToDevice(pointer, new Uint8Array(values.map((value) => value + 1).buffer));
  }
}

let driver: LateDevice;
let context: Context;
beforeEach(() => {
  process.env['TSAMBA_WARN_IMPLICIT_COPY'] = '0';
  driver = new LateDevice();
  context = new Context(driver);
  cudaDevices.enter(context);
});

const addOne = jit((a: Vec<f32>) => {
  const i = grid(1);
  if (i < a.length) a[i] = (a[i] as number) + 1;
});
const values = (): Float32Array => Float32Array.of(1, 2, 3, 4);
const PLUS_ONE = Float32Array.of(2, 3, 4, 5);

describe('on a device that works late', () => {
  it('a launch with device arrays only enqueues', () => {
    const stream = createStream();
    const d = toDevice(values());
    addOne.launch({ threads: COUNT, stream }, d);
    expect(stream.query()).toBe(false);
    stream.synchronize();
    expect(d.copyToHost()).toEqual(PLUS_ONE);
  });

  it('without a stream host arrays are done on return', () => {
    const a = values();
    addOne.launch({ threads: COUNT }, a);
    expect(a).toEqual(PLUS_ONE);
  });

  it('with a stream they are done when it has been synchronised, and their copies live as long', () => {
    const stream = createStream();
    const a = values();
    addOne.launch({ threads: COUNT, stream }, a);
    expect(a).toEqual(values());
    context.deallocations.clear();
    stream.synchronize();
    expect(a).toEqual(PLUS_ONE);
    context.deallocations.clear();
    stream.synchronize();
    expect(driver.device.live).toBe(0);
  });

  it('In arrays are not waited for with a stream, and are without', () => {
    const stream = createStream();
    addOne.launch({ threads: COUNT, stream }, In(values()));
    expect(stream.query()).toBe(false);
    stream.synchronize();
    addOne.launch({ threads: COUNT }, In(values()));
    expect(driver.step()).toBe(false);
  });

  it('arrays disposed after a launch live until it is done', () => {
    const stream = createStream();
    const d = toDevice(values());
    const view = d.slice('1:');
    addOne.launch({ threads: COUNT, stream }, d);
    d.dispose();
    view.dispose();
    context.deallocations.clear();
    expect(() => stream.synchronize()).not.toThrow();
    expect(driver.device.live).toBe(0);
  });

  it('so do arrays on the fast path, and those that a kernel captured', () => {
    const [first, second] = [createStream(), createStream()];
    const d = toDevice(values());
    for (const stream of [first, second, first]) addOne.launch({ threads: COUNT, stream }, d);
    d.dispose();
    context.deallocations.clear();
    second.synchronize();
    expect(() => first.synchronize()).not.toThrow();
    const captured = toDevice(values());
    const viaCapture = jit((k: number) => {
      const c = captured as unknown as Vec<f32>;
      c[grid(1)] = k;
    });
    const touched: (StreamHandle | undefined)[] = [];
    const touch = vi.spyOn(MemoryOwner.prototype, 'touch').mockImplementation((stream) => {
      touched.push(stream?.handle);
    });
    viaCapture.compile(1);
    viaCapture.launch({ threads: 1, stream: second }, 1);
    touch.mockRestore();
    expect(touched).toEqual([second.handle]);
  });
});
