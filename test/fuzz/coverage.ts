/** Which combinations of operation, type and renderer have been executed. */
import type { Observer } from './devices.ts';

export class Coverage {
  readonly observer: Observer = () => {};
  report(_devices: readonly string[]): string {
    return '';
  }
}
