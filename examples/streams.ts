/**
 * Streams and events: a long signal in chunks, so that on a GPU the copies of one chunk overlap with the kernel of another.
 *
 *     npx tsx examples/streams.ts [elements]
 */
import { cuda, f32, type In, type Vec } from '../src/index.ts';

const n = Number(process.argv[2] ?? 2 ** 20);
const CHUNKS = 8;

/** Loudness in decibels of each sample. */
const decibels = cuda.jit((signal: In<Vec<f32>>, out: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < out.length) out[i] = 20 * Math.log10(Math.abs(signal[i]) + 1e-6);
});

const signal = Float32Array.from({ length: n }, (_, k) => Math.sin(k / 50) * Math.exp(-k / n));
const result = new Float32Array(n);
const size = Math.ceil(n / CHUNKS);
decibels.compile(signal, result); // now, so that it is not part of the time below

const [start, end] = [cuda.event(), cuda.event()];
const streams = [cuda.stream(), cuda.stream(), cuda.stream()];
start.record();
for (let k = 0; k * size < n; k++) {
  const stream = streams[k % streams.length];
  const chunk = signal.subarray(k * size, (k + 1) * size);
  const input = cuda.toDevice(chunk, { stream });
  const output = cuda.deviceArray(chunk.length, f32, { stream });
  decibels.launch({ threads: chunk.length, stream }, input, output);
  output.copyToHost(result.subarray(k * size, (k + 1) * size), { stream });
  // The memory is freed when the stream has come that far.
  input.dispose();
  output.dispose();
}
await Promise.all(streams.map((stream) => stream.done()));
end.record();
end.synchronize();

console.log(`${n} samples in ${CHUNKS} chunks on ${streams.length} streams: ${start.elapsedTime(end).toFixed(1)} ms`);
const loudest = result.reduce((a, b) => Math.max(a, b));
console.log(`the loudest sample has ${loudest.toFixed(2)} dB, the last ${result[n - 1].toFixed(2)} dB`);
console.log(`${cuda.memoryStats().live} bytes of device memory in use`);
for (const stream of streams) stream.dispose();
