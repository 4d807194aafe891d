/**
 * When a device has done all that it was given, asked from the event loop: for what is given up while nobody can wait for it.
 */
import type { DeviceDriver, EventHandle, Failure } from '../driver/driver.ts';
import { after, onNextTurn } from '../host/turns.ts';

/** Milliseconds between two looks: at first each turn of the event loop, then ever more seldom. */
const LONGEST = 5;

/** Resolves when all that was enqueued until now has been done, with what went wrong first and nobody was told of. */
export async function runDry(driver: DeviceDriver): Promise<Failure | undefined> {
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, undefined);
    await reached(driver, event);
    return driver.failureBefore(event);
  } finally {
    driver.destroyEvent(event);
  }
}

async function reached(driver: DeviceDriver, event: EventHandle): Promise<void> {
  const began = performance.now();
  while (!driver.queryEvent(event)) {
    const pause = Math.min((performance.now() - began) / 64, LONGEST);
    await new Promise<void>((resolve) => void (pause < 1 ? onNextTurn(resolve) : after(pause, resolve)));
  }
}
