/**
 * What a user could pick instead: jax-js' WebAssembly matmul, its own threads, on the same machine in the same run.
 */

/** Milliseconds for a 512³ f32 matmul in jax-js, the median of its rounds, as for the kernels beside it. */
export async function peerMatmul(rounds: number): Promise<number> {
  const jax = await import('@jax-js/jax');
  const n = 512;
  await jax.init('wasm');
  jax.defaultDevice('wasm');
  const np = jax.numpy;
  const a = np.ones([n, n]).mul(0.5);
  const b = np.ones([n, n]).mul(0.25);
  const times: number[] = [];
  for (let k = 0; k < rounds + 3; k++) {
    const start = performance.now();
    const c = np.matmul(a.ref, b.ref);
    await c.blockUntilReady();
    const t = performance.now() - start;
    if (k >= 3) times.push(t);
    const first = ((await c.data()) as Float32Array)[0];
    if (first !== n * 0.125) throw new Error(`jax-js gives ${first}`);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}
