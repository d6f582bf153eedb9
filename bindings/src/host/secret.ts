/** Whether a key stands in something that is about to leave us (P-10). */

/** What is looked at, at most: an error that a transport throws is small. */
const MAX_VALUES = 2_000;

/**
 * Whether the key stands anywhere in an error of a transport: in its texts, in its causes, and in members such as the request that some
 * libraries hang onto their errors. What is too large to look through counts as if it did.
 */
export function mentions(error: unknown, key: string): boolean {
  if (key === "") return false;
  const seen = new Set<unknown>();
  const waiting: unknown[] = [error];
  for (let looked = 0; waiting.length > 0; looked++) {
    if (looked >= MAX_VALUES) return true;
    const value = waiting.pop();
    if (typeof value === "string" && value.includes(key)) return true;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    try {
      for (const name of Object.getOwnPropertyNames(value)) waiting.push(name, (value as { readonly [name: string]: unknown })[name]);
      if (value instanceof Map) for (const entry of value) waiting.push(entry);
      else if (value instanceof Headers || value instanceof Set) waiting.push([...value]);
    } catch {
      // A member that throws when read cannot be looked at: as if it held the key.
      return true;
    }
  }
  return false;
}
