/**
 * Two NVIDIA devices in one process: copies between them, events across them, and what a lost one does to the other.
 */
import { openNvidia } from '../../src/driver/nvidia/index.ts';
import { cuda, f32, type Vec } from '../../src/index.ts';
import { same, sameElements } from '../../testsuite/assert.ts';
import { errand, inChild } from './errands.ts';
import { type GpuModule, skip } from './suite.ts';

const BYTES = 1 << 20;

function needTwo(): void {
  if (cuda.gpus.length < 2) skip('there is one GPU');
}

/** Memory of pools and other memory, both ways, on streams and not, and what the bytes cost. */
function copies(): string {
  needTwo();
  const [a, b] = [openNvidia(0), openNvidia(1)];
  const pattern = Uint8Array.from({ length: BYTES }, (_, i) => (i * 11) & 255);
  for (const shareable of [false, true]) {
    const from = a.allocate(BYTES, undefined, shareable);
    const to = b.allocate(BYTES, undefined, shareable);
    const back = a.allocate(BYTES, undefined, shareable);
    a.copyToDevice(from, pattern);
    b.copyFromPeer(to, a, from, BYTES);
    const stream = a.createStream();
    a.copyFromPeer(back, b, to, BYTES, stream);
    a.synchronizeStream(stream);
    const out = new Uint8Array(BYTES);
    a.copyToHost(out, back);
    same(Buffer.compare(out, pattern), 0, shareable ? 'shareable memory' : 'memory of the pool');
    a.destroyStream(stream);
    a.free(from);
    a.free(back);
    b.free(to);
  }
  const large = 1 << 28;
  const [from, to] = [a.allocate(large), b.allocate(large)];
  b.copyFromPeer(to, a, from, large);
  const began = performance.now();
  for (let k = 0; k < 4; k++) b.copyFromPeer(to, a, from, large);
  const rate = (4 * large) / (performance.now() - began) / 1e6;
  a.close();
  b.close();
  return `${rate.toFixed(0)} GB/s`;
}

/** A stream of one device waits for an event of the other. */
function events(): void {
  needTwo();
  const [a, b] = [openNvidia(0), openNvidia(1)];
  const bytes = 1 << 28;
  const [from, to] = [a.allocate(bytes), b.allocate(bytes)];
  const [s, t] = [a.createStream(), b.createStream()];
  const event = a.createEvent(false);
  const fill = { target: { pointer: from, strides: [4] }, shape: [bytes / 4], pattern: Uint8Array.of(1, 2, 3, 4) };
  a.fillStrided(fill, s);
  a.recordEvent(event, s);
  b.waitEvent(event, t);
  b.copyFromPeer(to, a, from, bytes, t);
  b.synchronizeStream(t);
  const out = new Uint8Array(8);
  b.copyToHost(out, Number(to) + bytes - 8);
  same(out.join(), '1,2,3,4,1,2,3,4');
  a.close();
  b.close();
}

/** The same program on both devices, by turns. */
function byTurns(): void {
  needTwo();
  const double = cuda.jit((x: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < x.length) x[i] *= 2;
  });
  const arrays = [0, 1].map((index) => {
    cuda.selectDevice(index);
    return cuda.toDevice(Float32Array.of(index + 1, 10));
  });
  for (let round = 0; round < 3; round++) {
    for (const [index, x] of arrays.entries()) {
      cuda.selectDevice(index);
      double.launch({ threads: 2 }, x);
    }
  }
  for (const [index, x] of arrays.entries()) {
    cuda.selectDevice(index);
    sameElements(x.copyToHost(), Float32Array.of((index + 1) * 8, 80));
    x.dispose();
  }
  cuda.selectDevice(0);
}

const loseOne = errand('lose one of two', () => {
  const wild = cuda.jit((x: Vec<f32>, k: number) => {
    x[cuda.grid(1) + k] = 1;
  });
  cuda.selectDevice(1);
  const kept = cuda.toDevice(Float32Array.of(1, 2));
  cuda.selectDevice(0);
  wild.launch({ grid: 1, block: 1 }, cuda.deviceArray(4, f32), 2 ** 29);
  try {
    cuda.synchronize();
  } catch {
    console.log('lost');
  }
  cuda.selectDevice(1);
  try {
    console.log([...kept.copyToHost()].join(), [...cuda.toDevice(Float32Array.of(5)).copyToHost()].join());
  } catch (error) {
    console.log((error as Error).message.split('\n')[0]);
  }
});

/** Says what becomes of the other device; both answers are right, and the process must end well. */
function losing(): string {
  needTwo();
  const { code, out, err } = inChild(loseOne);
  same(code, 0, err);
  const [first, second] = out.trim().split('\n');
  same(first, 'lost', out);
  return `the other device: ${second}`;
}

export const peerTests: GpuModule = {
  chapter: 'nvidia peers',
  tests: [
    { name: 'copies', run: copies },
    { name: 'events', run: events },
    { name: 'by turns', run: byTurns },
    { name: 'a lost device beside another', run: losing },
  ],
};
