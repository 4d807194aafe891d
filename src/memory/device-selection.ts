/**
 * Which device a namespace computes on: what the environment says, what the program selects, and the current context.
 *
 * Each namespace has one selection and hands it, or the current context, to all that it makes; nothing here is shared between
 * namespaces but the devices themselves (`open-devices.ts`). A device is opened when it is first needed, one context for each. What
 * `auto` takes is the namespace's own affair: `devices.ts` for `cuda`, `roc/devices.ts` for `roc`.
 */
import { DEVICE_KINDS, type DeviceInfo, type DeviceKind, KIND_NAMES } from '../driver/driver.ts';
import { switchFromEnvironment, variable } from '../environment.ts';
import { NotSupportedError, TsambaRangeError } from '../errors.ts';
import { warn } from '../host/index.ts';
import { show } from '../show.ts';
import { Context } from './context.ts';
import { type Device, describeDevice, hardwareOf } from './device.ts';
import { checkThere, openDevice, openDeviceLater } from './open-devices.ts';
import { probe } from './providers.ts';

/** A device by its kind and its number among those. */
export interface Place {
  readonly kind: DeviceKind;
  readonly index: number;
}

/** What `auto` takes. */
export interface Choice extends Place {
  /** Why it is not the device that is usually meant. */
  readonly reason?: string | undefined;
  /** What to say about that, once a process; it is given the reason. */
  readonly announcement?: ((reason: string) => string) | undefined;
}

/** How a namespace chooses. */
export interface SelectionRules {
  /** `cuda`, `roc`: the word before the dot. */
  readonly namespace: string;
  /** The environment variable that names a device. */
  readonly variable: string;
  /** Whether `copyToHost` waits also where it is given a stream. */
  readonly readsWait: boolean;
  /** What `auto` takes; `opens` says whether a device can be opened, and opens it. Gives no reason where it found what is usually meant. */
  readonly choose: (opens: (place: Place) => string | undefined) => Choice;
  /** The device that a number selects. Throws RangeError or NotSupportedError for a number too large. */
  readonly numbered: (index: number, asked: string) => Place;
  /** What numbers are, for messages: `the number of an NVIDIA GPU`. */
  readonly numbers: string;
}

/** The devices and the current context of one namespace. */
export class DeviceSelection {
  readonly namespace: string;
  readonly #rules: SelectionRules;
  /** By kind and number: `nvidia:1`. */
  readonly #contexts = new Map<string, Context>();
  #current: Context | undefined = undefined;
  /** Why the current device is not the one that is usually meant, when nobody asked for what it is. */
  #fallbackReason: string | undefined = undefined;
  #announced = false;
  /** What is being opened. */
  readonly #opening = new Set<string>();

  constructor(rules: SelectionRules) {
    this.namespace = rules.namespace;
    this.#rules = rules;
  }

  /** The context that new arrays and launches use; opens the device if it is not open yet. */
  currentContext(): Context {
    const current = this.#current;
    return current === undefined || current.closed ? this.#openDefault() : current;
  }

  currentDevice(): Device {
    const { info } = this.currentContext();
    return this.#describe(info, this.#fallbackReason);
  }

  /** Makes a device the current one. Throws NotSupportedError when there is none, RangeError for what names none. */
  select(choice: unknown, index: unknown): Device {
    const asked = `selectDevice(${index === undefined ? show(choice) : `${show(choice)}, ${show(index)}`})`;
    const place = this.#place(choice, index, asked);
    return this.#take(this.#open(place, asked));
  }

  /** The same for every device, those that are opened by a promise among them. */
  async open(choice: unknown, index: unknown): Promise<Device> {
    const asked = `open(${index === undefined ? show(choice) : `${show(choice)}, ${show(index)}`})`;
    const place = this.#place(choice, index, asked);
    this.#checkThere(place, asked);
    this.#opening.add(asked);
    try {
      for (;;) {
        const device = await openDeviceLater(place.kind, place.index);
        await device.driver.complete?.();
        // Whoever closes it may have done so meanwhile.
        if (device.gone) continue;
        return this.#take(this.#known(place) ?? this.#adopt(place, new Context(device, this.#rules)));
      }
    } finally {
      this.#opening.delete(asked);
    }
  }

  /** Makes a context the current one; the function that it gives makes the one current again that was. */
  enter(context: Context): () => void {
    const [current, reason] = [this.#current, this.#fallbackReason];
    this.#current = context;
    this.#fallbackReason = undefined;
    return () => {
      this.#current = current;
      this.#fallbackReason = reason;
    };
  }

  /** Closes all devices that the namespace has opened. */
  close(): void {
    this.#current = undefined;
    for (const context of this.#contexts.values()) context.close();
    this.#contexts.clear();
  }

  /** The same, without blocking, after all calls before it. */
  async closeAsync(): Promise<void> {
    const contexts = [...this.#contexts.values()];
    this.#current = undefined;
    this.#contexts.clear();
    await Promise.all(contexts.map((context) => context.closeAsync()));
  }

  /** A device by its place; opens it only where that costs nothing. */
  describe(place: Place): Device {
    return this.#describe(this.infoOf(place), undefined);
  }

  /** What a device says of itself; opens it only where that costs nothing. */
  infoOf(place: Place): DeviceInfo {
    const { provider } = probe(place.kind);
    return provider?.describe?.(place.index) ?? this.#open(place, `${place.kind} ${place.index}`).info;
  }

  #take(context: Context): Device {
    this.#current = context;
    this.#fallbackReason = undefined;
    return this.#describe(context.info, undefined);
  }

  #describe(info: DeviceInfo, reason: string | undefined): Device {
    const place = { kind: info.kind, index: info.index };
    return describeDevice(info, reason, () =>
      this.enter(this.#open(place, `activate() of ${info.kind} device ${info.index}`)),
    );
  }

  #place(choice: unknown, index: unknown, asked: string): Place {
    if (typeof choice === 'number' && index === undefined) {
      if (!Number.isInteger(choice) || choice < 0) throw this.#badChoice(asked);
      return this.#rules.numbered(choice, asked);
    }
    const kind = KIND_NAMES.find((one) => one === choice);
    if (kind === undefined) throw this.#badChoice(asked);
    const number = index ?? 0;
    if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return { kind, index: number };
    throw new TsambaRangeError('E_DEVICE', `${this.namespace}.${asked}: devices are numbered from 0`);
  }

  #badChoice(asked: string): TsambaRangeError {
    const possible = `${this.#rules.numbers}, ${KIND_NAMES.map((kind) => `'${kind}'`).join(', ')}`;
    return new TsambaRangeError('E_DEVICE', `${this.namespace}.${asked} names no device; ${possible} are possible`);
  }

  #known({ kind, index }: Place): Context | undefined {
    const known = this.#contexts.get(`${kind}:${index}`);
    if (known?.driver.lost !== true) return known?.closed ? undefined : known;
    // Nothing on it can be had back.
    known.close();
    return undefined;
  }

  #adopt({ kind, index }: Place, context: Context): Context {
    this.#contexts.set(`${kind}:${index}`, context);
    return context;
  }

  #open(place: Place, asked: string): Context {
    const known = this.#known(place);
    if (known !== undefined) return known;
    this.#checkThere(place, asked);
    const instead = `await ${this.namespace}.open('${place.kind}')`;
    const device = openDevice(place.kind, place.index, asked, instead);
    return this.#adopt(place, new Context(device, this.#rules));
  }

  #checkThere({ kind, index }: Place, asked: string): void {
    const fromEnvironment = asked.startsWith('TSAMBA');
    const instead = fromEnvironment ? `${this.#rules.variable}=cpu` : `${this.namespace}.selectDevice('cpu')`;
    checkThere(
      kind,
      index,
      fromEnvironment ? asked : `${this.namespace}.${asked}`,
      `; ${instead} selects the CPU device`,
    );
  }

  #openDefault(): Context {
    const place = this.#chosenByEnvironment();
    this.#fallbackReason = undefined;
    this.#current = place === undefined ? this.#openAuto() : this.#open(place, this.#asked(place));
    return this.#current;
  }

  #chosenByEnvironment(): Place | undefined {
    const { variable: name } = this.#rules;
    const text = variable(name) ?? '';
    if (text === '' || text.toLowerCase() === 'auto') return undefined;
    const kind = KIND_NAMES.find((one) => one === text.toLowerCase());
    if (kind === undefined) {
      const possible = ['auto', ...KIND_NAMES].join(', ');
      throw new TsambaRangeError('E_DEVICE', `${name}=${text} names no device; ${possible} are possible`);
    }
    const place = { kind, index: 0 };
    this.#checkThere(place, this.#asked(place));
    if (gpuRequired() && !this.#isGpu(place)) {
      const what = DEVICE_KINDS[kind].inProcess ? '' : `, which is ${this.infoOf(place).name}`;
      throw new NotSupportedError(
        'E_NO_GPU',
        `TSAMBA_REQUIRE_GPU=1 contradicts ${this.#asked(place)}${what}; unset one of them`,
      );
    }
    return place;
  }

  #openAuto(): Context {
    const { reason, announcement, ...place } = this.#rules.choose((one) => this.#whyNot(one));
    if (gpuRequired() && !this.#isGpu(place)) {
      throw new NotSupportedError(
        'E_NO_GPU',
        `TSAMBA_REQUIRE_GPU=1, but ${this.namespace} has no GPU to use: ${reason}`,
      );
    }
    const context = this.#open(place, `${this.#rules.variable}=auto`);
    const { restriction } = context.info;
    const whole = reason !== undefined && restriction !== undefined ? `${reason}; ${restriction}` : reason;
    this.#fallbackReason = whole;
    if (announcement !== undefined && whole !== undefined) {
      const [early] = this.#opening;
      const late = early === undefined ? '' : `. ${this.namespace}.${early} has not resolved yet: await it before this`;
      this.#announce(`${announcement(whole)}${late}`);
    }
    return context;
  }

  #asked({ kind }: Place): string {
    return `${this.#rules.variable}=${kind}`;
  }

  #isGpu(place: Place): boolean {
    return !DEVICE_KINDS[place.kind].inProcess && hardwareOf(this.infoOf(place)).type === 'gpu';
  }

  /** Opens a device; why that cannot be done, if it cannot. */
  #whyNot(place: Place): string | undefined {
    try {
      this.#open(place, 'auto');
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    }
  }

  /** Once a process, as a warning: the variable that chooses, NODE_NO_WARNINGS or `--disable-warning=TSAMBA_FALLBACK` silence it. */
  #announce(text: string): void {
    if (this.#announced) return;
    this.#announced = true;
    warn(text, { type: 'TsambaWarning', code: 'TSAMBA_FALLBACK' });
  }
}

function gpuRequired(): boolean {
  return switchFromEnvironment('TSAMBA_REQUIRE_GPU') === true;
}
