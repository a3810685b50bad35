/**
 * The same 32 bits for the same text, on every machine and in every version of Node: FNV-1a over its UTF-16 code units,
 * then the last step of MurmurHash3, because names that differ only at their end differ little in the high bits of FNV.
 */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
