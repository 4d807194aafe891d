/**
 * Strided copies and fills on the device: one kernel for each unit of 1 to 16 bytes, over up to eight strided axes, in WGSL.
 *
 * A thread takes every n-th unit: index → (quotient, remainder), remainder × stride added to both offsets. Units of less than a word are stored by two atomic operations, for
 * neighbours store the rest of the word. The parameters are those of `pack`, of whose 64-bit numbers the lower halves are read: a buffer is smaller than 4 GiB.
 */
import { type CopyLaunch, MAX_AXES, PARAMETERS, pack, type Unit } from '../copies/launches.ts';
import type { GpuBuffer, GpuDevice } from './api.ts';
import type { Batch, Pipeline } from './batch.ts';
import { groupOf, pipelineOf } from './pipelines.ts';

/** Threads of a group, and groups at most. */
const GROUP = 64;
const MAX_GROUPS = 4096;

const word = (at: number): string => `p[${at >> 4}].${'xyzw'[(at >> 2) & 3]}`;

/** The text of a copy or a fill. */
function textOf(kind: 'copy' | 'fill', unit: Unit, ordered: boolean): string {
  const part = unit < 4;
  const copies = kind === 'copy';
  const axis = PARAMETERS.axes >> 4;
  const lines = [
    `@group(0) @binding(0) var<uniform> p: array<vec4<u32>, ${Math.ceil(PARAMETERS.bytes / 16)}>;`,
    `@group(0) @binding(1) var<storage, read_write> target_words: array<${part ? 'atomic<u32>' : 'u32'}>;`,
    ...(copies ? ['@group(0) @binding(2) var<storage, read> source_words: array<u32>;'] : []),
    `@compute @workgroup_size(${ordered ? 1 : GROUP})`,
    'fn move_units(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {',
    `  let count = ${word(PARAMETERS.count)}; let rank = ${word(PARAMETERS.rank)};`,
    `  for (var i = id.x; i < count; i += groups.x * ${ordered ? 1 : GROUP}u) {`,
    `    var t = ${word(PARAMETERS.target)}; var s = ${word(PARAMETERS.source)}; var rest = i;`,
    `    for (var a = 0u; a < min(rank, ${MAX_AXES}u); a++) {`,
    `      let n = p[${axis}u + 2u * a].x; let q = rest / n; let k = rest - q * n;`,
    `      t += k * p[${axis + 1}u + 2u * a].x; s += k * p[${axis + 1}u + 2u * a].z; rest = q;`,
    '    }',
    ...move(copies, unit),
    '  }',
    '}',
  ];
  return lines.join('\n');
}

function move(copies: boolean, unit: Unit): string[] {
  const pattern = (k: number): string => word(PARAMETERS.pattern + 4 * k);
  if (unit >= 4) {
    return Array.from({ length: unit / 4 }, (_, k) => {
      const value = copies ? `source_words[(s >> 2u) + ${k}u]` : pattern(k);
      return `    target_words[(t >> 2u) + ${k}u] = ${value};`;
    });
  }
  const mask = unit === 1 ? '0xffu' : '0xffffu';
  const value = copies ? '(source_words[s >> 2u] >> ((s & 3u) * 8u))' : pattern(0);
  return [
    `    let shift = (t & 3u) * 8u; let mask = ${mask} << shift; let bits = (${value} << shift) & mask;`,
    '    atomicAnd(&target_words[t >> 2u], ~mask | bits); atomicOr(&target_words[t >> 2u], bits);',
  ];
}

const BYTES = Math.ceil(PARAMETERS.bytes / 16) * 16;

/** The copy kernels of one device, made when first needed. */
export class CopyKernels {
  readonly #device: GpuDevice;
  readonly #batch: Batch;
  readonly #made = new Map<string, Pipeline>();
  readonly #view = new DataView(new ArrayBuffer(BYTES));

  constructor(device: GpuDevice, batch: Batch) {
    this.#device = device;
    this.#batch = batch;
  }

  /** Records launches; their targets and sources are offsets in the buffers, which differ. `source` is undefined for fills. */
  run(launches: readonly CopyLaunch[], target: GpuBuffer, source: GpuBuffer | undefined, pattern?: Uint8Array): void {
    for (const launch of launches) {
      pack(launch, this.#view, pattern);
      const groups = launch.ordered ? 1 : Math.min(MAX_GROUPS, Math.ceil(launch.count / GROUP));
      const buffers = source === undefined ? [target] : [target, source];
      const pipeline = this.#pipeline(launch, source !== undefined);
      const group = groupOf(this.#device, this.#batch, pipeline, BYTES, buffers);
      this.#batch.dispatch(pipeline, group, new Uint8Array(this.#view.buffer), [groups, 1, 1]);
    }
  }

  #pipeline({ unit, ordered }: CopyLaunch, copies: boolean): Pipeline {
    const key = `${copies ? 'copy' : 'fill'}${unit}${ordered}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const text = textOf(copies ? 'copy' : 'fill', unit, ordered);
    const kinds = copies ? (['storage', 'read-only-storage'] as const) : (['storage'] as const);
    const made = pipelineOf(this.#device, text, 'move_units', BYTES, kinds);
    // One of few texts, which tests know.
    made.proven = true;
    this.#made.set(key, made);
    return made;
  }
}
