/**
 * What a program that writes declarations may export without an annotation: whatever public functions give has a name that others can import.
 * Compiled, never run.
 */
import { c64, cuda, f32, f32x4, ndarray, roc, type SmartArray, struct, type Vec } from 'tsamba';

export const kernel = cuda.jit((y: Vec<f32>, n: number) => {
  y[n] = 1;
});
export const rocKernel = roc.jit((y: Vec<c64>) => {
  y[0] = 1;
});
export const configured = kernel.configure(1, 1);
export const Particle = struct({ mass: f32, pos: f32.array(3), z: c64, v: f32x4 });
export const arrays = {
  device: cuda.deviceArray(3, f32),
  named: cuda.deviceArray([3, 4], 'float64'),
  roc: roc.deviceArray(3, 'c64'),
  sent: cuda.toDevice(new Float32Array(3)),
  particles: cuda.deviceArray(3, Particle),
  record: cuda.toDevice({ mass: 1, pos: [1, 2, 3], z: { re: 1, im: 2 }, v: f32x4(1) }, { dtype: Particle }),
  host: ndarray([1, 2, 3]),
  pinned: cuda.pinnedArray(3),
  mapped: cuda.mappedArray(3, 'u8c'),
};
export const smart = null as unknown as SmartArray<f32, 1>;
export const copied = arrays.sent.copyToHost();
export const [stream, event, one] = [cuda.stream(), cuda.event(), cuda.scalar(f32, 2)];
export const fill = (y: Vec<f32>) => y.fill(0);
