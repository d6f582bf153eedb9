// JSON texts whose keys mean something to JavaScript, from a seed, and a comparison that no such key can fool.

/** Numbers below a bound, the same ones for the same seed (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

export const KEYS = [
  "__proto__", "constructor", "prototype", "toString", "valueOf", "toJSON", "hasOwnProperty", "isPrototypeOf", "__defineGetter__", "__lookupSetter__", "then", "catch",
  "length", "0", "1", "00", "-0", "4294967294", "4294967295", "9007199254740993", "1e3", "NaN", "", " ", "\0", "a\0b", "__proto__\0", "$ref", "$invalid", "ok", "error", "input", "type", "output",
  "é", "e\u0301", "\u{1F600}", "\uFB33", "\uFFFF", "\u2028", "plain",
];
const TEXTS = ["", "__proto__", "polluted", "\0", "\u2028", "\u{1F600}", "\"\\/", "{\"__proto__\":1}"];
const NUMBERS = ["0", "-0", "1", "-1", "9007199254740991", "1e-7", "1.5", "1E+2", "5e-324", "1.7976931348623157e308"];

const unit = (code) => `\\u${code.toString(16).padStart(4, "0")}`;

/** A string as JSON text; now and then with escapes that nobody needs. */
function spelled(text, below) {
  if (below(3) > 0) return JSON.stringify(text);
  return `"${[...Array(text.length).keys()].map((at) => unit(text.charCodeAt(at))).join("")}"`;
}

function value(below, depth) {
  switch (below(depth > 4 ? 4 : 7)) {
    case 0: return spelled(TEXTS[below(TEXTS.length)], below);
    case 1: return NUMBERS[below(NUMBERS.length)];
    case 2: return ["true", "false", "null"][below(3)];
    case 3: return "[]";
    case 4: return `[${Array.from({ length: 1 + below(3) }, () => value(below, depth + 1)).join(" , ")}]`;
    default: return hostileObject(below, depth + 1);
  }
}

/** An object of up to six hostile keys, none of them twice. */
export function hostileObject(below, depth = 0) {
  const keys = new Set(Array.from({ length: below(7) }, () => KEYS[below(KEYS.length)]));
  return `{${[...keys].map((key) => `${spelled(key, below)} : ${value(below, depth)}`).join(",")}}`;
}

/** The same object with a key that no reader may accept: one that is there already, written otherwise, or half of a surrogate pair. */
export function refusedObject(below) {
  const key = KEYS[below(KEYS.length)];
  const escaped = [...Array(key.length).keys()].map((at) => unit(key.charCodeAt(at))).join("");
  const lone = ["\\ud800", "\\udfff", "\\ud83dx", "x\\ude00", "\\ude00\\ud83d"][below(5)];
  const [first, second] = below(2) === 0 ? [JSON.stringify(key), `"${escaped}"`] : [JSON.stringify(key), `"${lone}"`];
  return `{${first}:${hostileObject(below)},${second}:1}`;
}

/** Where two JSON values differ: own keys in order, each value, and that nothing but the ordinary prototypes stands behind them. */
export function difference(expected, given, path = "$") {
  if (typeof expected !== "object" || expected === null) return Object.is(expected, given) ? undefined : `${path}: ${String(given)} instead of ${String(expected)}`;
  if (typeof given !== "object" || given === null) return `${path}: no object`;
  const ordinary = Array.isArray(expected) ? Array.prototype : Object.prototype;
  if (Array.isArray(expected) !== Array.isArray(given) || Object.getPrototypeOf(given) !== ordinary) return `${path}: another prototype`;
  const keys = Reflect.ownKeys(expected);
  const found = Reflect.ownKeys(given);
  if (keys.length !== found.length || keys.some((key, at) => key !== found[at])) return `${path}: keys ${JSON.stringify(found)} instead of ${JSON.stringify(keys)}`;
  for (const key of keys) {
    if (Array.isArray(expected) && key === "length") continue;
    const { value: one } = Object.getOwnPropertyDescriptor(expected, key);
    const two = Object.getOwnPropertyDescriptor(given, key);
    if (!("value" in two) || !two.enumerable) return `${path}[${JSON.stringify(key)}]: no plain member`;
    const found = difference(one, two.value, `${path}[${JSON.stringify(key)}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}
