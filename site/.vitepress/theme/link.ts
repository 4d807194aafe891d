/**
 * Programs of the playground as links: the text is in the part behind `#`, which no server is sent.
 */
const KEY = '#program=';

/** The link that opens the page with this program. */
export function linkTo(address: string, code: string): string {
  const bytes = new TextEncoder().encode(code);
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return `${address.split('#')[0]}${KEY}${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The program of a link; undefined where it has none, or one that is broken. */
export function codeIn(hash: string): string | undefined {
  if (!hash.startsWith(KEY)) return undefined;
  try {
    const text = atob(hash.slice(KEY.length).replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
