/**
 * What a page of the site is, and what its text says about it.
 */
/** A page: its path on the site without `.md`, its title, its text as Markdown, and the sentence that says what it is about. */
export interface SitePage {
  readonly path: string;
  readonly title: string;
  readonly text: string;
  readonly summary: string;
}

/** An entry of a sidebar. */
export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly SidebarItem[];
  readonly collapsed?: boolean;
}

/** The first heading, as plain text. */
export function titleOf(text: string): string {
  return (/^# +(.+)$/m.exec(text)?.[1] ?? 'Untitled').replaceAll('`', '');
}

/** The first sentence of prose, as plain text. Lines that lead from page to page are none. */
export function summaryOf(text: string): string {
  const paragraph = text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .find((part) => /^[A-Z*`[0-9]/.test(part) && !/^\[Memory\]/.test(part));
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(?<!\w)\*+(\w[^*]*)\*+/g, '$1')
    .replace(/\s+/g, ' ');
  const sentence = /^.{20,}?[.:](?= |$)/.exec(plain)?.[0] ?? plain;
  return sentence.replace(/:$/, '.');
}
