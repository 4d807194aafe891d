/**
 * Scripts as V8 loaded them and the files they were made from: URL, text, source map.
 *
 * Everything here is for error messages and inspection: it may read files and ask the inspector for a script's address,
 * and remembers what it found for each script.
 */
import { findNodeModule } from '../../host/index.ts';
import { inspectScript } from './inspector.ts';
import { readText, splitLines } from './source-files.ts';
import { parseSourceMap, type SourceMap } from './sourcemap.ts';

export interface Script {
  readonly url: string;
  readonly lines: readonly string[];
  readonly map: SourceMap | undefined;
}

const scripts = new Map<string, Script | undefined>();

/** A loaded script by V8's id, or undefined where nothing is known. */
export function scriptById(scriptId: string): Script | undefined {
  if (!scripts.has(scriptId)) {
    const info = inspectScript(scriptId);
    scripts.set(
      scriptId,
      info && { url: asUrl(info.url), lines: splitLines(info.text), map: loadMap(info.sourceMapUrl, asUrl(info.url)) },
    );
  }
  return scripts.get(scriptId);
}

/** CommonJS scripts are named by their path. */
function asUrl(name: string): string {
  if (!name.startsWith('/') && !/^[a-z]:[\\/]/i.test(name)) return name;
  return findNodeModule('node:url')?.pathToFileURL(name).href ?? name;
}

/** The map that a text names in its last lines, when it is itself generated. */
export function mapOf(url: string, text: string | undefined): SourceMap | undefined {
  const comment = /\n\/\/[#@] sourceMappingURL=(\S+)\s*$/.exec(text ?? '');
  return comment?.[1] === undefined ? undefined : loadMap(comment[1], url);
}

function loadMap(address: string, scriptUrl: string): SourceMap | undefined {
  if (address === '') return undefined;
  const inline = /^data:[^,]*?(;base64)?,/.exec(address);
  if (inline !== null) {
    const payload = address.slice(inline[0].length);
    return parseSourceMap(inline[1] === undefined ? decodeURIComponent(payload) : fromBase64(payload), scriptUrl);
  }
  try {
    const url = new URL(address, scriptUrl).href;
    const text = url.startsWith('file:') ? readText(url) : undefined;
    return text === undefined ? undefined : parseSourceMap(text, url);
  } catch {
    return undefined;
  }
}

function fromBase64(payload: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(payload), (c) => c.charCodeAt(0)));
}
