/** The fuzzer's command line: `tsx test/fuzz/fuzz.ts --programs 1000 --seed 1`. */
import { DEVICE_NAMES, openDevice, check, type DeviceName } from './devices.ts';
import { Discarded } from './evaluate.ts';
import { generate } from './generate.ts';
import { printProgram } from './print.ts';

const seed0 = Number(process.argv[2] ?? 1);
const n = Number(process.argv[3] ?? 100);
const names = (process.argv[4]?.split(',') ?? DEVICE_NAMES) as readonly DeviceName[];
const devices = new Map(names.map((d) => [d, openDevice(d)]));
const kinds = new Map<string, number>();
const t0 = performance.now();
for (let seed = seed0; seed < seed0 + n; seed++) {
  const p = generate(seed);
  let f;
  try { f = check(p, devices); } catch (e) { if (e instanceof Discarded) { kinds.set(`discard ${e.message}`, (kinds.get(`discard ${e.message}`) ?? 0) + 1); continue; } console.log('seed', seed); throw e; }
  if (f) {
    const key = `${f.device} ${f.kind}`;
    if (!kinds.has(key)) { console.log('=== seed', seed, f.device, f.kind, '\n', f.what.slice(0, 1500)); if (process.argv[5]) console.log(printProgram(p)); }
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
  }
}
console.log(kinds, (n / (performance.now() - t0)) * 1000, 'programs/s');
for (const d of devices.values()) d.close();
