/**
 * Which blocks show types on hover: those of TypeScript that compile, which is all but the ones that are followed by an error's message.
 */
export function withTwoslash(text: string): string {
  return text.replace(/^```ts([^\n]*)\n([\s\S]*?)^```$(\n\n```text)?/gm, (whole, words: string, code: string, error) =>
    error !== undefined || !code.includes("from 'tsamba") ? whole : `\`\`\`ts twoslash${words}\n${code}\`\`\``,
  );
}
