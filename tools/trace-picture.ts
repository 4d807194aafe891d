/**
 * Draws a trace as an SVG picture: the whole of it, and under that a part of it from closer.
 *
 *     TSAMBA_TRACE=trace.json npm start
 *     npx tsx tools/trace-picture.ts trace.json picture.svg [from to]      milliseconds of the part
 *
 * A track for each thread of the host and each stream of a device, as in ui.perfetto.dev, which shows more.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Trace, TraceEvent } from '../src/cuda/index.ts';

const WIDTH = 1200;
const LEFT = 190;
const ROW = 24;
const COLOURS = new Map([
  ['range', '#c9d6e8'],
  ['compile', '#e0b252'],
  ['wait', '#d9d9d9'],
  ['copy', '#6aa4c8'],
  ['launch', '#5aa469'],
  ['graph', '#8a6bb1'],
  ['fill', '#7cc4b8'],
  ['collective', '#c8664f'],
]);

interface Slice {
  readonly name: string;
  readonly colour: string;
  readonly start: number;
  readonly end: number;
  readonly depth: number;
}

interface Track {
  readonly title: string;
  readonly slices: Slice[];
  depth: number;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The tracks of a trace; times in milliseconds from its first event on. */
function tracksOf({ traceEvents }: Trace): Track[] {
  const spans = traceEvents
    .filter(({ ph }) => ph === 'X')
    .sort((a, b) => timeOf(a) - timeOf(b) || lengthOf(b) - lengthOf(a));
  const [first] = spans;
  const origin = first === undefined ? 0 : timeOf(first);
  const nameOf = (kind: string, pid: number, tid?: number): string => {
    const found = traceEvents.find((e) => e.name === kind && e.pid === pid && (tid === undefined || e.tid === tid));
    return String(found?.args?.name ?? '');
  };
  const tracks = new Map<string, Track>();
  const open = new Map<Track, number[]>();
  for (const event of spans) {
    const key = `${event.pid} ${event.tid}`;
    const process = nameOf('process_name', event.pid).replace(/^.*\((.*)\)$/, '$1');
    const track = tracks.get(key) ?? {
      title: `${process}, ${nameOf('thread_name', event.pid, event.tid)}`,
      slices: [],
      depth: 1,
    };
    tracks.set(key, track);
    const [start, end] = [timeOf(event) - origin, timeOf(event) - origin + lengthOf(event)];
    const ends = (open.get(track) ?? []).filter((other) => other > start);
    track.slices.push({
      name: event.name,
      colour: COLOURS.get(event.cat ?? '') ?? '#999',
      start,
      end,
      depth: ends.length,
    });
    open.set(track, [...ends, end]);
    track.depth = Math.max(track.depth, ends.length + 1);
  }
  return [...tracks.values()];
}

const timeOf = ({ ts = 0 }: TraceEvent): number => ts / 1000;
const lengthOf = ({ dur = 0 }: TraceEvent): number => dur / 1000;

/** All tracks between two times, drawn from `top` on. */
function panel(
  tracks: readonly Track[],
  from: number,
  to: number,
  top: number,
): { readonly svg: string; readonly bottom: number } {
  const x = (time: number): number =>
    LEFT + ((Math.min(Math.max(time, from), to) - from) / (to - from)) * (WIDTH - LEFT - 10);
  const parts: string[] = [];
  let y = top + 22;
  for (const track of tracks) {
    parts.push(`<text x="8" y="${y + 16}">${escaped(track.title)}</text>`);
    const drawn = new Set<string>();
    for (const { name, colour, start, end, depth } of track.slices) {
      if (end < from || start > to) continue;
      const [left, width] = [x(start), Math.max(x(end) - x(start), 1)];
      // What is too small to be seen beside another is drawn once.
      const place = `${depth} ${colour} ${left.toFixed(0)}`;
      if (width <= 1 && drawn.has(place)) continue;
      drawn.add(place);
      const at = y + depth * ROW;
      parts.push(
        `<rect x="${left.toFixed(1)}" y="${at}" width="${width.toFixed(1)}" height="${ROW - 3}" fill="${colour}"${width > 4 ? ' stroke="#fff"' : ''}/>`,
      );
      const room = Math.floor((width - 6) / 6.4);
      if (room >= 4)
        parts.push(
          `<text x="${(left + 4).toFixed(1)}" y="${at + 15}">${escaped(name.length > room ? `${name.slice(0, room - 1)}…` : name)}</text>`,
        );
    }
    y += track.depth * ROW + 8;
  }
  const step = niceStep((to - from) / 8);
  const axis: string[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const label = step >= 1000 ? `${time / 1000} s` : `${Number(time.toFixed(3))} ms`;
    axis.push(
      `<line x1="${x(time)}" x2="${x(time)}" y1="${top + 18}" y2="${y}" stroke="#e4e4e4"/><text x="${x(time) + 3}" y="${top + 14}" fill="#666">${label}</text>`,
    );
  }
  return { svg: axis.join('\n') + parts.join('\n'), bottom: y };
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((k) => k * power >= least) ?? 10);
}

const [file, target, from, to] = process.argv.slice(2);
if (file === undefined || target === undefined)
  throw new Error('usage: trace-picture.ts TRACE.json PICTURE.svg [FROM TO]');
const tracks = tracksOf(JSON.parse(readFileSync(file, 'utf8')) as Trace);
const last = Math.max(...tracks.flatMap(({ slices }) => slices.map(({ end }) => end)));
const whole = panel(tracks, 0, last, 0);
const part = from === undefined ? undefined : panel(tracks, Number(from), Number(to), whole.bottom + 10);
const height = (part ?? whole).bottom + 4;
writeFileSync(
  target,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${whole.svg}
${part?.svg ?? ''}
</svg>
`,
);
console.log(`${target}: ${tracks.length} tracks, ${last.toFixed(0)} ms`);
