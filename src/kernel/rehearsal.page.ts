/**
 * Pages have no driver that starts without them: there is nothing to rehearse for.
 */
import type { DeviceSelection } from '../memory/device-selection.ts';

export const rehearsed = (devices: DeviceSelection): DeviceSelection => devices;
