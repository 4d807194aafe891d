/**
 * `tsamba bench`: a few kernels beside plain JavaScript, and the speed of copies, on the devices of this machine.
 */
import { type DeviceKind, KIND_NAMES } from '../driver/driver.ts';
import type { BenchCopies, BenchRow } from './bench-device.ts';
import { inChild } from './children.ts';
import { type Command, defineCommand, EXIT, oneOf } from './command-line.ts';
import { type DeviceRow, describeAll } from './describe.ts';
import { bytesText, digitsText } from './text.ts';

/** What is measured of a device. */
interface DeviceFigures {
  readonly device: DeviceRow;
  readonly copies?: BenchCopies['copies'] | undefined;
  readonly kernels: readonly BenchRow[];
  readonly problem?: string | undefined;
}

const TIMEOUT = 600_000;
/** The simulator is there to find mistakes, and says nothing about speed. */
const USUAL: readonly DeviceKind[] = KIND_NAMES.filter((kind) => kind !== 'simulator');

export const bench: Command = defineCommand({
  name: 'bench',
  usage: '[--device kind] [--json]',
  summary: 'times a few kernels, compared with plain JavaScript, and copies, on the devices of this machine',
  options: {
    device: { value: KIND_NAMES.join('|'), help: 'only these devices' },
    json: { help: 'prints JSON' },
  },
  notes:
    'Times are from the fastest of five rounds. Exit code 1: a kernel computes wrong numbers or does not run, or there is no such device.',
  async run({ options }) {
    const asked = options.get('device');
    const kinds = asked === undefined ? USUAL : [oneOf('--device', asked, KIND_NAMES)];
    const found = await describeAll(kinds);
    const figures: DeviceFigures[] = [];
    for (const device of found.flatMap(({ devices }) => devices)) {
      const measured = await measureDevice(device);
      figures.push(measured);
      if (!options.has('json')) console.log(`${figuresText(measured)}\n`);
    }
    if (options.has('json')) console.log(JSON.stringify(figures, undefined, 2));
    if (figures.length === 0) console.error(`there is no ${asked} device: ${found[0]?.reason}`);
    const bad = figures.some(
      ({ problem, kernels }) => problem !== undefined || kernels.some((row) => row.problem !== undefined),
    );
    return figures.length === 0 || bad ? EXIT.failed : EXIT.ok;
  },
});

async function measureDevice(device: DeviceRow): Promise<DeviceFigures> {
  const kernels: BenchRow[] = [];
  let copies: BenchCopies['copies'] | undefined;
  const onTold = (told: unknown): void => {
    if (typeof told === 'object' && told !== null && 'copies' in told) ({ copies } = told as BenchCopies);
    else kernels.push(told as BenchRow);
  };
  const { kind, index } = device;
  const outcome = await inChild('bench', { kind, index }, { timeout: TIMEOUT, onTold });
  return { device, copies, kernels, problem: outcome.problem };
}

function figuresText({ device, copies, kernels, problem }: DeviceFigures): string {
  const lines = [`${device.kind} ${device.index}: ${device.name}`];
  if (copies !== undefined) {
    const { toDevice, toHost, onDevice, bytes } = copies;
    const speed = (value: number): string => `${value.toFixed(1)} GB/s`;
    lines.push(
      `  copies of ${bytesText(bytes)}: to the device ${speed(toDevice)}, to the host ${speed(toHost)}, on the device ${speed(onDevice)}`,
    );
  }
  for (const { name, milliseconds, plainMilliseconds, problem: wrong } of kernels) {
    const time = `${digitsText(milliseconds, 3)} ms`.padStart(12);
    const plain = `${digitsText(plainMilliseconds, 3)} ms`.padStart(12);
    const times = `${digitsText(plainMilliseconds / milliseconds, 2)} ×`;
    lines.push(
      wrong === undefined
        ? `  ${name.padEnd(38)}${time}  JavaScript${plain}  ${times}`
        : `  ${name.padEnd(38)}FAIL ${wrong}`,
    );
  }
  if (problem !== undefined) lines.push(`  FAIL ${problem}`);
  return lines.join('\n');
}
