/**
 * Binaries of OpenCL programs on disk (and what probes have found out), so that a program that was built once starts quickly: in the user's cache folder, or in
 * `TSAMBA_CACHE_DIR`; `TSAMBA_CACHE=0` turns it off.
 *
 * A file is named by a digest of the text, the options, the device and its driver, and holds a digest of its contents: one that
 * was cut short or changed is no hit. Files appear by renaming. Whatever goes wrong with files only costs time.
 */
import { type Environment, switchFromEnvironment, variable } from '../../environment.ts';
import { nodeModule, platformName } from '../../host/index.ts';

const DIGEST_BYTES = 32;
/** Goes up when what is in the files changes. */
const FORMAT = 'tsamba-opencl-1';

/** The folder of the cache; undefined when it is turned off. */
export function cacheFolder(env?: Environment, platform: string = platformName()): string | undefined {
  if (switchFromEnvironment('TSAMBA_CACHE', env) === false) return undefined;
  const { join } = nodeModule('node:path');
  const [own, xdg, local] = ['TSAMBA_CACHE_DIR', 'XDG_CACHE_HOME', 'LOCALAPPDATA'].map((name) => variable(name, env));
  if (own !== undefined && own !== '') return join(own, 'opencl');
  const base = (): string => {
    if (platform === 'win32' && local !== undefined && local !== '') return local;
    if (platform === 'darwin') return join(nodeModule('node:os').homedir(), 'Library', 'Caches');
    return xdg !== undefined && xdg !== '' ? xdg : join(nodeModule('node:os').homedir(), '.cache');
  };
  return join(base(), 'tsamba', 'opencl');
}

/** The binaries of one device. */
export class BinaryCache {
  readonly #folder: string;
  readonly #identity: string;

  /** `identity` names the device and everything that its compiler depends on. */
  constructor(folder: string, identity: string) {
    this.#folder = folder;
    this.#identity = identity;
  }

  /** The binary of a program, if it is there and whole. */
  read(key: string): Uint8Array | undefined {
    try {
      const file = nodeModule('node:fs').readFileSync(this.#file(key));
      const binary = new Uint8Array(new ArrayBuffer(Math.max(file.length, 128)), 0, file.length - DIGEST_BYTES);
      binary.set(file.subarray(DIGEST_BYTES));
      return digest(binary).equals(file.subarray(0, DIGEST_BYTES)) ? binary : undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a binary. */
  write(key: string, binary: () => Uint8Array | undefined): void {
    const file = this.#file(key);
    const temporary = `${file}.${process.pid}-${nodeModule('node:worker_threads').threadId}`;
    const { mkdirSync, renameSync, rmSync, writeFileSync } = nodeModule('node:fs');
    try {
      const bytes = binary();
      if (bytes === undefined) return;
      mkdirSync(this.#folder, { recursive: true });
      writeFileSync(temporary, Buffer.concat([digest(bytes), bytes]));
      renameSync(temporary, file);
    } catch {
      try {
        rmSync(temporary, { force: true });
      } catch {
        // A folder that cannot be written to.
      }
    }
  }

  #file(key: string): string {
    const name = nodeModule('node:crypto')
      .createHash('sha256')
      .update(`${FORMAT}\n${this.#identity}\n${key}`)
      .digest('hex');
    return nodeModule('node:path').join(this.#folder, `${name}.bin`);
  }
}

function digest(bytes: Uint8Array): Buffer {
  return nodeModule('node:crypto').createHash('sha256').update(bytes).digest();
}
