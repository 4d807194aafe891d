/**
 * Files of traces: names in which processes, ranks and threads differ, and writing them so that none replaces another's of the same run.
 */
import { makeFolder } from '../host/folders.ts';
import { nodeModule, processId, threadNumber } from '../host/index.ts';
import type { Trace } from './chrome.ts';
import { rankOfProcess } from './rank.ts';

/** A file name with its placeholders replaced. */
export function traceName(pattern: string, rank: number | undefined = rankOfProcess()): string {
  return pattern
    .replaceAll('{pid}', String(processId()))
    .replaceAll('{rank}', String(rank ?? 0))
    .replaceAll('{thread}', String(threadNumber()));
}

/** A file name for this process: ranks and worker threads are told apart also where the pattern does not. */
export function nameForProcess(pattern: string): string {
  const rank = rankOfProcess();
  const thread = threadNumber();
  let name = pattern;
  if (rank !== undefined && !/\{rank\}|\{pid\}/.test(pattern)) name = beforeExtension(name, '.rank{rank}');
  if (thread !== 0 && !pattern.includes('{thread}')) name = beforeExtension(name, '.thread{thread}');
  return traceName(name, rank);
}

/** `trace.json` with `.rank0` is `trace.rank0.json`. */
export function beforeExtension(name: string, added: string): string {
  const at = name.lastIndexOf('.');
  const isExtension = at > Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1;
  return isExtension ? `${name.slice(0, at)}${added}${name.slice(at)}` : `${name}${added}`;
}

/** Writes a trace; folders are made. Gives the path. Throws what the file system says. */
export function writeTrace(pattern: string, trace: Trace): string {
  const name = traceName(pattern);
  const fs = nodeModule('node:fs');
  makeFolder(nodeModule('node:path').dirname(name));
  fs.writeFileSync(name, textOf(trace));
  return name;
}

/** As `writeTrace`, but where another process has written the file since this one began, the process's number becomes part of the name. */
export function writeOwnTrace(name: string, trace: Trace): string {
  const fs = nodeModule('node:fs');
  makeFolder(nodeModule('node:path').dirname(name));
  const text = textOf(trace);
  const written = fs.statSync(name, { throwIfNoEntry: false })?.mtimeMs;
  // What was written before is of an earlier run.
  if (written !== undefined && written < performance.timeOrigin) fs.rmSync(name);
  try {
    fs.writeFileSync(name, text, { flag: 'wx' });
    return name;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'EEXIST') throw error;
    const other = beforeExtension(name, `.pid${processId()}`);
    fs.writeFileSync(other, text);
    return other;
  }
}

/** An event a line. */
function textOf({ traceEvents, ...rest }: Trace): string {
  const events = traceEvents.map((event) => JSON.stringify(event)).join(',\n');
  return `{"traceEvents":[\n${events}\n],\n${JSON.stringify(rest).slice(1)}\n`;
}
