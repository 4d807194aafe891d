/**
 * What the layers above run on a device that does nothing, while a real one starts: a driver cannot name them, so they leave it here.
 */
import type { DeviceDriver } from './driver.ts';

/** Makes and launches kernels that nobody needs. Throws whatever goes wrong. */
export type Rehearse = (driver: DeviceDriver) => void;

export const rehearsal: { run: Rehearse | undefined } = { run: undefined };
