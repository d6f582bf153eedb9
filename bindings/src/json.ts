/**
 * JavaScript values to JSON text for the core, and what cannot be carried.
 * Free JSON crosses as text (N-04): keys such as `__proto__` stay data, strings must be well formed, and numbers that JSON lacks are sent as
 * `{"$invalid": ...}` so that the core refuses them by name instead of seeing null.
 */
import { localError } from "./errors.js";

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether a string has a Unicode text: no surrogate stands alone. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** The string with a question mark for every half of a pair that stands alone: for words that are only shown. */
export function wellFormed(text: string): string {
  return isWellFormed(text) ? text : text.replace(/[\ud800-\udfff]/g, "?");
}

function invalid(value: unknown): string | undefined {
  switch (typeof value) {
    case "number": return Number.isFinite(value) ? undefined : String(value);
    case "bigint": case "function": case "symbol": return typeof value;
    default: return undefined;
  }
}

/** Host values as JSON for the core. @throws INVALID_INPUT for lone surrogates, cycles and values nested too deep */
export function encode(value: unknown, field: string): string {
  try {
    const text = JSON.stringify(value, (key, member: unknown) => {
      if (!isWellFormed(key)) throw localError("INVALID_INPUT", "a member name is not well-formed Unicode", undefined, field);
      if (typeof member === "string" && !isWellFormed(member)) throw localError("INVALID_INPUT", "a string is not well-formed Unicode", undefined, field);
      const word = invalid(member);
      return word === undefined ? member : { $invalid: word };
    }) as string | undefined;
    return text ?? "null";
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError)
      throw localError("INVALID_INPUT", "the value is cyclic or nested too deep for JSON", undefined, field);
    throw error;
  }
}

const PLAIN = new Set(["[object Object]", "[object Array]", "[object String]", "[object Number]", "[object Boolean]"]);

/** What a tool returned, as JSON text; `null` when it is not JSON (TOOL_OUTPUT_INVALID). `undefined` counts as null. */
export function outputJson(value: unknown): string | null {
  try {
    const text = JSON.stringify(value, (key, member: unknown) => {
      if (!isWellFormed(key) || invalid(member) !== undefined) throw new TypeError("not JSON");
      if (typeof member === "string" && !isWellFormed(member)) throw new TypeError("not JSON");
      if (typeof member === "object" && member !== null && !PLAIN.has(Object.prototype.toString.call(member))) throw new TypeError("not JSON");
      return member;
    }) as string | undefined;
    return text ?? "null";
  } catch {
    return null;
  }
}

/** Freezes a value that JSON.parse has just made, so that what was checked cannot change. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
