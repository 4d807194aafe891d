/**
 * Names of users in generated code: what the target's language allows, and short. Compilers make files of kernels' names (PoCL ends the
 * process where one is too long for the file system), and some have a limit of their own. What makes a name unique is put around it.
 */

/** Characters that a name keeps. */
const MOST = 64;

/** A name of ASCII letters, digits, `_` and what `also` has; a long one is cut, and told from others by its hash. */
export function plainName(name: string, also = ''): string {
  const start = name.length > MOST ? name.slice(0, MOST - 9) : name;
  const plain = start.replace(/[^A-Za-z0-9_$]/g, '_').replace(/\$/g, (sign) => (also.includes(sign) ? sign : '_'));
  return name.length > MOST ? `${plain}_${hashOf(name)}` : plain;
}

/** FNV-1a, 32 bits, in hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let k = 0; k < text.length; k++) hash = Math.imul(hash ^ text.charCodeAt(k), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
