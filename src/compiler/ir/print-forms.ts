/**
 * What a `console.log` of a kernel hands to the host's: of the words and values that a device gives, the texts, arrays and objects that
 * the source has. The host's own `console.log` then shows them as it shows any.
 */

/** What one argument, or a part of one, is made of. The parts of a `print` are taken in order. */
export type PrintForm =
  /** The next part as it is. */
  | 'value'
  | 'undefined'
  | 'null'
  /** A number that is known when compiling, as JavaScript writes it: no device computes it, so it is exact on each. */
  | { readonly number: string }
  /** A template string: each converted to a string, as JavaScript does it. */
  | { readonly text: readonly PrintForm[] }
  /** A string in memory: so many parts are its characters, with zeros behind. */
  | { readonly characters: number }
  /** `type`: the class of the typed array that it is. */
  | { readonly items: readonly PrintForm[]; readonly type?: TypedArrayName | undefined }
  /** `type`: the class that the object is of. */
  | { readonly fields: readonly (readonly [name: string, form: PrintForm])[]; readonly type?: string | undefined }
  /** A function or a class, of which the name is shown. */
  | { readonly name: string; readonly isClass: boolean };

export type TypedArrayName =
  `${'Int8' | 'Uint8' | 'Int16' | 'Uint16' | 'Int32' | 'Uint32' | 'Float32' | 'Float64' | 'BigInt64' | 'BigUint64' | 'Uint8Clamped'}Array`;

/** The arguments of the host's `console.log`; each part is one where `forms` is undefined. */
export function printArguments(parts: readonly unknown[], forms: readonly PrintForm[] | undefined): readonly unknown[] {
  if (forms === undefined) return parts;
  let at = 0;
  const make = (form: PrintForm): unknown => {
    if (form === 'value') return parts[at++];
    if (form === 'undefined') return undefined;
    if (form === 'null') return null;
    if ('number' in form) return Number(form.number);
    if ('text' in form) return form.text.map((part) => String(make(part))).join('');
    if ('characters' in form) return joined(Array.from({ length: form.characters }, () => Number(parts[at++])));
    if ('items' in form) return arrayOf(form.type, form.items.map(make));
    if ('name' in form) return form.isClass ? classNamed(form.name) : functionNamed(form.name);
    return objectOf(form.type, Object.fromEntries(form.fields.map(([name, part]) => [name, make(part)])));
  };
  return forms.map(make);
}

/** An array, or a typed array, of these elements. */
export function arrayOf(type: TypedArrayName | undefined, items: readonly unknown[]): unknown {
  return type === undefined ? items : (globalThis[type] as { from(items: readonly unknown[]): unknown }).from(items);
}

/** An object of these fields that shows as one of a class. */
export function objectOf(type: string | undefined, fields: object): object {
  return type === undefined ? fields : Object.assign(new (classNamed(type))(), fields);
}

export function classNamed(name: string): new () => object {
  return { [name]: class {} }[name] ?? Object;
}

export function functionNamed(name: string): () => void {
  return { [name]: () => {} }[name] ?? (() => {});
}

function joined(characters: readonly number[]): string {
  return String.fromCodePoint(...characters).replace(/\0+$/, '');
}
