/**
 * The devices that this build of Tsamba can compute on. A driver opens its device when it is first needed.
 */
import { cpuProvider } from '../driver/cpu/index.ts';
import { registerProvider } from '../memory/devices.ts';

registerProvider(cpuProvider);
