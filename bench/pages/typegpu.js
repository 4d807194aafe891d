/**
 * TypeGPU's side of the benchmark, by its own words: JavaScript functions with `'use gpu'`, which its plugin reads when the page is bundled. In JavaScript, as its types are not there where types are checked.
 */
import tgpu from 'typegpu';
import * as d from 'typegpu/data';
import * as std from 'typegpu/std';

/** Programs over buffers of WebGPU, on the device that Tsamba computes on. */
export function typegpu(device, n, size) {
  // More than 65,535 workgroups in a row are not allowed.
  const across = Math.min(n / 256, 32768);
  const row = across * 256;
  const root = tgpu.initFromDevice({ device });
  const numbers = (count) => d.arrayOf(d.f32, count);
  const vectors = tgpu.bindGroupLayout({
    x: { storage: numbers(n) },
    y: { storage: numbers(n), access: 'mutable' },
  });
  const saxpy = tgpu.computeFn({ in: { id: d.builtin.globalInvocationId }, workgroupSize: [256] })((input) => {
    'use gpu';
    const i = input.id.y * row + input.id.x;
    if (i < n) {
      vectors.$.y[i] = vectors.$.y[i] + 0.5 * vectors.$.x[i];
    }
  });
  const matrices = tgpu.bindGroupLayout({
    a: { storage: numbers(size * size) },
    b: { storage: numbers(size * size) },
    c: { storage: numbers(size * size), access: 'mutable' },
  });
  const tileA = tgpu.workgroupVar(d.arrayOf(d.f32, 256));
  const tileB = tgpu.workgroupVar(d.arrayOf(d.f32, 256));
  const place = { id: d.builtin.globalInvocationId, at: d.builtin.localInvocationId };
  const matmul = tgpu.computeFn({ in: place, workgroupSize: [16, 16] })((input) => {
    'use gpu';
    let sum = d.f32(0);
    for (let k = d.u32(0); k < size; k += 16) {
      tileA.$[input.at.y * 16 + input.at.x] = matrices.$.a[input.id.y * size + k + input.at.x];
      tileB.$[input.at.y * 16 + input.at.x] = matrices.$.b[(k + input.at.y) * size + input.id.x];
      std.workgroupBarrier();
      for (let j = d.u32(0); j < 16; j++) {
        sum += tileA.$[input.at.y * 16 + j] * tileB.$[j * 16 + input.at.x];
      }
      std.workgroupBarrier();
    }
    matrices.$.c[input.id.y * size + input.id.x] = sum;
  });
  const typed = (buffer, count) => root.createBuffer(numbers(count), buffer).$usage('storage');
  return {
    saxpy(x, y) {
      const group = root.createBindGroup(vectors, { x: typed(x, n), y: typed(y, n) });
      const pipeline = root.createComputePipeline({ compute: saxpy }).with(group);
      return () => pipeline.dispatchWorkgroups(across, n / row);
    },
    matmul(a, b, c) {
      const all = { a: typed(a, size * size), b: typed(b, size * size), c: typed(c, size * size) };
      const pipeline = root.createComputePipeline({ compute: matmul }).with(root.createBindGroup(matrices, all));
      return () => pipeline.dispatchWorkgroups(size / 16, size / 16);
    },
  };
}
