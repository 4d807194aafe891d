/**
 * The one door to calls that wait: the driver of a device that a thread may wait for, or the error that names what to call instead.
 *
 * A device that answers through promises alone (a GPU in a page) has no calls that block.
 */
import type { BlockingDriver, DeviceDriver } from '../driver/driver.ts';
import { NotSupportedError } from '../errors.ts';

/** Whether a thread may wait for a device. */
export function canWait(driver: DeviceDriver): driver is BlockingDriver {
  return driver.info.features.hostCanWait;
}

/**
 * The driver, for a call that blocks. Throws NotSupportedError where nothing can: `instead` is the asynchronous form of `call`; a function
 * where it names the kernel, since it takes milliseconds to find out what that is called.
 */
export function blocking(driver: DeviceDriver, call: string, instead: string | (() => string)): BlockingDriver {
  if (canWait(driver)) return driver;
  throw cannotWait(
    `${call} waits for the device, and ${driver.info.name} only answers through promises`,
    typeof instead === 'string' ? instead : instead(),
  );
}

/** The error of a call that reads host memory before a launch has filled it. */
export function stillFilled(call: string): NotSupportedError {
  return cannotWait(`${call} host memory that a launchAsync has yet to fill`, 'await the launchAsync before');
}

/** The error of a call that would have to wait for what comes by the event loop alone. */
export function cannotWait(why: string, instead: string): NotSupportedError {
  return new NotSupportedError('E_NO_WAIT', `${why}: write ${instead}`);
}
