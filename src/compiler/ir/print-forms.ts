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
  /** A template string: each converted to a string, as JavaScript does it. */
  | { readonly text: readonly PrintForm[] }
  | { readonly items: readonly PrintForm[] }
  | { readonly fields: readonly (readonly [name: string, form: PrintForm])[] };

/** The arguments of the host's `console.log`; each part is one where `forms` is undefined. */
export function printArguments(parts: readonly unknown[], forms: readonly PrintForm[] | undefined): readonly unknown[] {
  if (forms === undefined) return parts;
  let at = 0;
  const make = (form: PrintForm): unknown => {
    if (form === 'value') return parts[at++];
    if (form === 'undefined') return undefined;
    if (form === 'null') return null;
    if ('text' in form) return form.text.map((part) => String(make(part))).join('');
    if ('items' in form) return form.items.map(make);
    return Object.fromEntries(form.fields.map(([name, part]) => [name, make(part)]));
  };
  return forms.map(make);
}
