import { cuda, f32, u32 } from 'tsamba';
import { mandelbrot } from './kernels.ts';

const canvas = document.querySelector<HTMLCanvasElement>('#picture')!;
const status = document.querySelector('#status')!;

try {
  // The GPU of the page where it has WebGPU, else the CPU device.
  const device = await cuda.open('webgpu').catch(() => cuda.open('cpu'));
  const picture = cuda.deviceArray([canvas.height, canvas.width], u32);
  const start = performance.now();
  // WebGPU has no f64: the numbers say that they are f32.
  const view = [cuda.scalar(f32, -0.6), cuda.scalar(f32, 0), cuda.scalar(f32, 3.2)] as const;
  await mandelbrot.launchAsync({ threads: [canvas.width, canvas.height] }, picture, ...view);
  await cuda.present(picture, canvas);
  status.textContent = `computed on ${device.name} in ${Math.round(performance.now() - start)} ms`;
} catch (error) {
  status.textContent = String(error);
  throw error;
}
