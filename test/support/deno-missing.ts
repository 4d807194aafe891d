/**
 * A program of Deno without WebGPU: opens it and prints the error.
 */
import { cuda } from '../../src/index.ts';

delete Object.getPrototypeOf(Reflect.get(globalThis, 'navigator')).gpu;
try {
  await cuda.open('webgpu');
} catch (error) {
  const { code, message } = error as Error & { readonly code?: string };
  console.log(code, message);
}
