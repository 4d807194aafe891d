/** `TSAMBA_DEBUG` prints the compiler's stages, its code and what passes the driver; `inspect` shows each pass. */
import { afterEach, expect, it, vi } from 'vitest';
import { cuda, type f32, ndarray, type Vec } from '../index.ts';

const lines = vi.spyOn(console, 'error').mockImplementation(() => undefined);
afterEach(() => {
  vi.unstubAllEnvs();
  cuda.close();
  lines.mockClear();
});

function run(device: 'cpu' | 'simulator'): readonly string[] {
  cuda.selectDevice(device);
  const double = cuda.jit(
    (a: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < a.length) a[i] = 2 * (a[i] as f32);
    },
    { name: 'double' },
  );
  const d = cuda.toDevice(Float32Array.of(1, 2, 3));
  double.launch({ grid: 1, block: 4 }, d);
  expect(d.copyToHost()).toEqual(Float32Array.of(2, 4, 6));
  d.dispose();
  return lines.mock.calls.map(([text]) => String(text));
}

it('says nothing unless it is asked', () => {
  expect(run('cpu')).toEqual([]);
});

it('prints allocations, copies and launches with sizes and times', () => {
  vi.stubEnv('TSAMBA_DEBUG', 'memory,copy,launch');
  const text = run('cpu');
  expect(text.filter((line) => line.startsWith('[tsamba memory] allocate(12'))).toHaveLength(1);
  expect(text).toContainEqual(expect.stringMatching(/^\[tsamba copy\] copyToDevice\(.*12 bytes.*\): \d+\.\d\d ms$/));
  expect(text).toContainEqual(
    expect.stringMatching(/^\[tsamba launch\] double with grid \[1, 1, 1\], block \[4, 1, 1\]: /),
  );
  expect(text.every((line) => /^\[tsamba (memory|copy|launch)\]/.test(line))).toBe(true);
});

it('prints strided copies and fills with the shape and both sides', () => {
  vi.stubEnv('TSAMBA_DEBUG', 'copy');
  cuda.selectDevice('cpu');
  const d = cuda.deviceArray([2, 3], 'f32', { order: 'F' });
  d.copyToDevice(ndarray([1, 2, 3, 4, 5, 6], { shape: [2, 3], dtype: 'f32' }));
  d.slice([0, 2], [0, 1]).set(7);
  const text = lines.mock.calls.map(([line]) => String(line)).join('\n');
  expect(text).toMatch(
    /copyToDeviceStrided\(\[2, 3\] of 4 bytes from 24 bytes of the host \+ 0 by \[12, 4\] to \d+ by \[4, 8\]/,
  );
  expect(text).toMatch(/fillStrided\(\[2, 1\] of 4 bytes to \d+ by \[4, 8\]/);
});

it.each([
  ['types', /double\n\s+i +i32 \(index\)/],
  ['ir', /kernel double/],
  ['passes', /double: simplify.*ms/],
  ['compile', /double: inferring types: \d/],
  ['wasm', /double\n[\s\S]*f32(x4)?\.mul/],
])('prints %s', (word, expected) => {
  vi.stubEnv('TSAMBA_DEBUG', word);
  const text = run('cpu');
  expect(text.some((line) => line.startsWith(`[tsamba ${word}]`) && expected.test(line))).toBe(true);
});

it("prints the simulator's JavaScript", () => {
  vi.stubEnv('TSAMBA_DEBUG', 'js');
  expect(run('simulator').join('\n')).toMatch(/\[tsamba js\] double\n/);
});

it('shows each pass in inspect', () => {
  cuda.selectDevice('cpu');
  const kernel = cuda.jit((a: Vec<f32>) => {
    a[cuda.threadIdx.x] = Math.sin(a[0] as f32);
  });
  kernel.compile(cuda.deviceArray(4, 'f32'));
  const text = kernel.inspect({ target: 'passes' });
  expect(text).toMatch(/^\/\/ as the front end made it\nkernel /);
  for (const pass of ['lower returns', 'expand math', 'simplify', 'unroll']) expect(text).toContain(`// ${pass}`);
});
