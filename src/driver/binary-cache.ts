/**
 * Machine code on disk (and what probes have found out), so that what was compiled once starts quickly in every later process: in the user's cache
 * folder, or in `TSAMBA_CACHE_DIR`; `TSAMBA_CACHE=0` turns it off.
 *
 * A file is named by a digest of the text, the options, the device and its driver, and holds a digest of its contents: one that
 * was cut short or changed is no hit. Files appear by renaming, so any number of processes may share a folder. Those that were not used for longest go
 * when there is too much. Whatever goes wrong with files only costs time.
 */
import { type Environment, switchFromEnvironment, variable } from '../environment.ts';
import { makeFolder } from '../host/folders.ts';
import { attempt, nodeModule, platformName, processId, userId, warn } from '../host/index.ts';

/** Devices whose code is kept, each in a folder of its own. */
const KINDS = ['nvidia', 'opencl', 'hip'] as const;
export type CachedKind = (typeof KINDS)[number];

const DIGEST_BYTES = 32;
/** Goes up when what is in the files changes. */
const FORMAT = 'tsamba-2';
/** Bytes that the files of a kind may take together: as much as the CUDA driver's own cache had for years. */
const MOST_BYTES = 2 ** 28;
/** A file that was used since then is not marked as used again. */
const DAY_MS = 86_400_000;
/** What a process that was killed in the middle of writing left behind. */
const STALE_MS = 3_600_000;
const OTHERS_MAY_WRITE = 0o002;

/** Folders that have been found safe or not. */
const trusted = new Map<string, boolean>();

/** The folder of a kind; undefined when the cache is turned off. */
export function cacheFolder(
  kind: CachedKind,
  env?: Environment,
  platform: string = platformName(),
): string | undefined {
  if (switchFromEnvironment('TSAMBA_CACHE', env) === false) return undefined;
  const { join } = nodeModule('node:path');
  const [own, xdg, local] = ['TSAMBA_CACHE_DIR', 'XDG_CACHE_HOME', 'LOCALAPPDATA'].map((name) => variable(name, env));
  if (own !== undefined && own !== '') return join(own, kind);
  const base = (): string => {
    if (platform === 'win32' && local !== undefined && local !== '') return local;
    if (platform === 'darwin') return join(nodeModule('node:os').homedir(), 'Library', 'Caches');
    return xdg !== undefined && xdg !== '' ? xdg : join(nodeModule('node:os').homedir(), '.cache');
  };
  return join(base(), 'tsamba', kind);
}

/** Removes what is kept, of all devices. Processes that use it compile again. */
export function clearCaches(env?: Environment): void {
  for (const kind of KINDS) {
    const folder = cacheFolder(kind, env);
    for (const { path } of folder === undefined ? [] : filesIn(folder)) remove(path);
  }
}

/** What is kept of a kind of device. */
export interface CachedFolder {
  readonly kind: CachedKind;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** What is kept, of all devices; nothing where the cache is turned off. */
export function cachedFolders(env?: Environment): readonly CachedFolder[] {
  return KINDS.flatMap((kind) => {
    const folder = cacheFolder(kind, env);
    if (folder === undefined) return [];
    const files = filesIn(folder);
    return [{ kind, folder, files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) }];
  });
}

/** What a binary was made from: its text, with what the text depends on. */
type CacheKey = string | Uint8Array;

/** The binaries of one device. */
export class BinaryCache {
  readonly #folder: string;
  readonly #identity: string;
  readonly #mostBytes: number;

  /** `identity` names the device and everything that its compiler depends on. */
  constructor(folder: string, identity: string, { mostBytes = MOST_BYTES }: { readonly mostBytes?: number } = {}) {
    this.#folder = folder;
    this.#identity = identity;
    this.#mostBytes = mostBytes;
  }

  /** The binary of a program, if it is there and whole; in memory of its own, which does not move. */
  read(key: CacheKey): Uint8Array | undefined {
    const path = this.#file(key);
    return attempt(() => {
      if (!isTrusted(this.#folder)) return undefined;
      const { readFileSync, statSync, utimesSync } = nodeModule('node:fs');
      const file = readFileSync(path);
      const binary = new Uint8Array(new ArrayBuffer(Math.max(file.length, 128)), 0, file.length - DIGEST_BYTES);
      binary.set(file.subarray(DIGEST_BYTES));
      const checksum = digest(binary);
      if (!file.subarray(0, DIGEST_BYTES).equals(checksum)) return undefined;
      const now = Date.now();
      attempt(() => {
        if (now - statSync(path).mtimeMs > DAY_MS) utimesSync(path, now / 1000, now / 1000);
      });
      return binary;
    });
  }

  /** Keeps a binary. */
  write(key: CacheKey, binary: () => Uint8Array | undefined): void {
    const file = this.#file(key);
    const temporary = `${file}.${processId()}-${nodeModule('node:worker_threads').threadId}`;
    const { renameSync, writeFileSync } = nodeModule('node:fs');
    const written = attempt(() => {
      const bytes = binary();
      if (bytes === undefined) return true;
      makeFolder(this.#folder, 0o700);
      if (!isTrusted(this.#folder)) return true;
      const checksum = digest(bytes);
      const contents = new Uint8Array(DIGEST_BYTES + bytes.length);
      contents.set(checksum);
      contents.set(bytes, DIGEST_BYTES);
      writeFileSync(temporary, contents, { mode: 0o600 });
      renameSync(temporary, file);
      // Looking at every file takes a while. Digests are as good as dice.
      if ((checksum[0] as number) % 16 === 0) this.#evict();
      return true;
    });
    if (written === undefined) remove(temporary);
  }

  /** Removes what was not used for longest, until a quarter of the room is free. */
  #evict(): void {
    const now = Date.now();
    const files = filesIn(this.#folder).sort((a, b) => b.usedMs - a.usedMs);
    let bytes = 0;
    const full = files.reduce((sum, file) => sum + file.bytes, 0) > this.#mostBytes;
    for (const { path, bytes: own, usedMs, temporary } of files) {
      if (temporary) {
        if (now - usedMs > STALE_MS) remove(path);
        continue;
      }
      bytes += own;
      if (full && bytes > 0.75 * this.#mostBytes) remove(path);
    }
  }

  #file(key: CacheKey): string {
    const name = nodeModule('node:crypto')
      .createHash('sha256')
      .update(`${FORMAT}\n${this.#identity}\n`)
      .update(key)
      .digest('hex');
    return nodeModule('node:path').join(this.#folder, `${name}.bin`);
  }
}

interface CachedFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
  /** Being written, or left by a process that was killed. */
  readonly temporary: boolean;
}

/** The cache's files in a folder, and no others; none where it cannot be read. */
function filesIn(folder: string): CachedFile[] {
  const { readdirSync, statSync } = nodeModule('node:fs');
  const names = attempt(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => {
    const [, rest] = /^[0-9a-f]{64}\.bin(\.\d+-\d+)?$/.exec(name) ?? [undefined, null];
    if (rest === null) return [];
    const path = nodeModule('node:path').join(folder, name);
    // Another process may have removed it by now.
    const stats = attempt(() => statSync(path));
    return stats === undefined
      ? []
      : [{ path, bytes: stats.size, usedMs: stats.mtimeMs, temporary: rest !== undefined }];
  });
}

/** Whether nobody else can put code into a folder, which this process would run. */
function isTrusted(folder: string): boolean {
  const known = trusted.get(folder);
  if (known !== undefined) return known;
  const user = userId();
  const stats = nodeModule('node:fs').statSync(folder);
  const safe = user === undefined || ((stats.uid === user || stats.uid === 0) && (stats.mode & OTHERS_MAY_WRITE) === 0);
  trusted.set(folder, safe);
  if (!safe) {
    warn(
      `the cache of compiled kernels in ${folder} is not used, because other users can write to it: ` +
        'make it private (chmod 700), or name another folder in TSAMBA_CACHE_DIR',
      { type: 'TsambaWarning', code: 'TSAMBA_CACHE_UNSAFE' },
    );
  }
  return safe;
}

function remove(path: string): void {
  attempt(() => nodeModule('node:fs').rmSync(path, { force: true }));
}

function digest(bytes: Uint8Array): Uint8Array {
  return nodeModule('node:crypto').createHash('sha256').update(bytes).digest();
}
