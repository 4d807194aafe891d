/**
 * What the environment asks to see of a whole program: `TSAMBA_TRACE=trace.json`, a trace that is written when the process, or the worker thread,
 * ends; `TSAMBA_PROGRESS=1`, a line about what takes long.
 */
import { switchFromEnvironment, variable } from '../environment.ts';
import { atExit, printError } from '../host/index.ts';
import { traceOf } from './chrome.ts';
import { readTimes, showProgress, startRecording } from './collector.ts';
import { originOfProcess } from './profile.ts';
import { Progress } from './progress.ts';
import { Recording } from './records.ts';
import { nameForProcess, writeOwnTrace } from './trace-file.ts';

let asked = false;

/** Begins what the environment asks for, when the first device is opened or the program begins a range. Never throws. */
export function watchProgram(): void {
  if (asked) return;
  asked = true;
  trace();
  if (switchFromEnvironment('TSAMBA_PROGRESS') !== true) return;
  try {
    showProgress(new Progress());
  } catch (error) {
    printError(`tsamba: TSAMBA_PROGRESS shows nothing: ${String(error)}`);
  }
}

function trace(): void {
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
