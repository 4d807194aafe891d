/**
 * Random tiles that are turned around, with bounds checks and without. FUZZ_TILES=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { cuda, f32, i32, u32 } from '../../src/index.ts';
import { generateTile, tileOnHost } from './tile-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_TILES'] ?? 40);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const LAUNCHES = 40;
const ARRAYS = { f32: Float32Array, i32: Int32Array, u32: Uint32Array };

afterAll(() => cuda.selectDevice('cpu'));

it('come out as on the host', { timeout: 300_000 }, () => {
  cuda.selectDevice('cpu');
  const captured = { cuda, f32, i32, u32 };
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const p = generateTile(seed);
    const a = Array.from({ length: p.grid * p.size }, (_, k) => (k * 37 + seed * 11) % 1009);
    const wanted = tileOnHost(p, a);
    const make = new Function(...Object.keys(captured), `return (a, o) => {\n${p.text}\n}`);
    for (const boundsCheck of [true, false]) {
      const kernel = cuda.jit(make(...Object.values(captured)) as (...of: unknown[]) => void, { boundsCheck });
      const [from, to] = [cuda.toDevice(ARRAYS[p.elem].from(a)), cuda.toDevice(new ARRAYS[p.elem](a.length))];
      // Often enough for the code that is made in full.
      for (let k = 0; k < LAUNCHES; k++) kernel.launch({ grid: p.grid, block: [...p.block] }, from, to);
      const out = to.copyToHost() as Float32Array;
      expect([...out], `seed ${seed}, block ${p.block}, checks ${boundsCheck}:\n${p.text}`).toEqual(wanted);
    }
  }
});
