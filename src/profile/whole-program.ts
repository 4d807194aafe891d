/**
 * `TSAMBA_TRACE=trace.json`: a trace of the whole program, written when the process, or the worker thread, ends.
 */
import { variable } from '../environment.ts';
import { atExit, printError } from '../host/index.ts';
import { traceOf } from './chrome.ts';
import { readTimes, startRecording } from './collector.ts';
import { originOfProcess } from './profile.ts';
import { Recording } from './records.ts';
import { nameForProcess, writeOwnTrace } from './trace-file.ts';

let asked = false;

/** Begins the trace that the environment asks for, when the first device is opened or the program begins a range. Never throws. */
export function traceProgram(): void {
  if (asked) return;
  asked = true;
  const pattern = variable('TSAMBA_TRACE')?.trim();
  if (pattern === undefined || pattern === '') return;
  const recording = new Recording();
  startRecording(recording);
  atExit(() => {
    try {
      // Nothing can be waited for any more: what is still running on a device has only the host's times.
      readTimes();
      const file = writeOwnTrace(nameForProcess(pattern), traceOf(recording.taken(), originOfProcess()));
      printError(`tsamba: the trace is in ${file}: ui.perfetto.dev opens it`);
    } catch (error) {
      printError(`tsamba: the trace could not be written (TSAMBA_TRACE=${pattern}): ${String(error)}`);
    }
  });
}
