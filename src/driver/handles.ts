/**
 * What the streams and events of every driver have in common: whose they are, use after destruction, and what must be true of an event whose
 * time is asked for. What they do is each driver's own.
 */
import { DriverError } from '../errors.ts';
import type { EventHandle, StreamHandle } from './driver.ts';

/** The class of a driver's streams or events. */
type Kind<T> = abstract new (...args: never[]) => T;

/** An event as a driver knows it. */
export abstract class DriverEvent<Owner extends object> {
  readonly owner: Owner;
  readonly timing: boolean;
  alive = true;

  constructor(owner: Owner, timing: boolean) {
    this.owner = owner;
    this.timing = timing;
  }
}

/** The event behind a handle, whichever device of the driver it belongs to. Throws where it is none, or destroyed. */
export function anyEvent<E extends DriverEvent<object>>({ event }: EventHandle, kind: Kind<E>, api: string): E {
  if (!(event instanceof kind)) throw invalidHandle(api, 'the event belongs to another device');
  if (!event.alive) throw invalidHandle(api, 'the event has been destroyed');
  return event;
}

/** The same, of one device. */
export function ownEvent<E extends DriverEvent<object>>(
  handle: EventHandle,
  kind: Kind<E>,
  owner: object,
  api: string,
): E {
  const event = anyEvent(handle, kind, api);
  if (event.owner !== owner) throw invalidHandle(api, 'the event belongs to another device');
  return event;
}

/** Throws unless an event can tell when it came: `which` of the two that are compared it is. */
export function checkTimed({ timing }: DriverEvent<object>, recorded: boolean, which: 'start' | 'end'): void {
  if (!timing) {
    throw invalidHandle('elapsedTime', `the ${which} event was created without timing: use event({ timing: true })`);
  }
  if (!recorded) {
    throw invalidHandle('elapsedTime', `the ${which} event has not been recorded: call record(stream) first`);
  }
}

/** The stream behind a handle, of one device. Throws where it is none, or destroyed. */
export function ownStream<S extends { readonly owner: object; readonly alive: boolean }>(
  { stream }: StreamHandle,
  kind: Kind<S>,
  owner: object,
  api: string,
): S {
  if (!(stream instanceof kind) || stream.owner !== owner) {
    throw invalidHandle(api, 'the stream belongs to another device');
  }
  if (!stream.alive) throw invalidHandle(api, 'the stream has been destroyed');
  return stream;
}

function invalidHandle(api: string, what: string): DriverError {
  return new DriverError('E_INVALID_HANDLE', `${api}: ${what}`, { api });
}
