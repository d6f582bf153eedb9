/** A scenario is data that somebody typed: every member's name and value is checked before the first answer. Knows nothing of the wire. */

interface Rule {
  readonly fits: (value: unknown) => boolean;
  /** What a fitting value is, to stand after "must be". */
  readonly says: string;
}
type Rules = { readonly [member: string]: Rule };

const isObject = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isSize = (value: unknown): boolean => isCount(value) && value !== 0;
const only = (value: object, ...members: readonly string[]): boolean => Object.keys(value).every((name) => members.includes(name));

const TEXT: Rule = { fits: (value) => typeof value === "string", says: "a string" };
const NAME: Rule = { fits: (value) => typeof value === "string" && value !== "", says: "a string that is not empty" };
const TIME: Rule = { fits: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0, says: "a number, zero or more" };
const PLACE: Rule = {
  fits: (value) => isCount(value) || value === "before_finish" || value === "before_terminal",
  says: 'a number of body bytes, "before_finish" or "before_terminal"',
};
const SPLIT: Rule = {
  fits: (value) => value === "whole" || value === "bytes" || isSize(value)
    || (isObject(value) && only(value, "seed", "max") && Number.isSafeInteger(value["seed"]) && isSize(value["max"])),
  says: '"whole", "bytes", a number of bytes from 1, or {"seed", "max"} with whole numbers, max from 1',
};

const TURN: Rules = {
  text: TEXT,
  calls: { fits: Array.isArray, says: "a list" },
  finish: { fits: (value) => value === "length" || value === "content_filter", says: '"length" or "content_filter"' },
  http: { fits: (value) => isCount(value) && (value as number) >= 200 && (value as number) <= 599, says: "a status from 200 to 599" },
  chunks: {
    fits: (value) => Array.isArray(value) && value.every((chunk) => typeof chunk === "string" || chunk instanceof Uint8Array),
    says: "a list of strings (in a program also of Uint8Array)",
  },
  usage: {
    fits: (value) => value === null
      || (isObject(value) && only(value, "input_tokens", "output_tokens") && isCount(value["input_tokens"]) && isCount(value["output_tokens"])),
    says: 'null, or {"input_tokens", "output_tokens"} with whole numbers',
  },
  retry_after_s: TIME,
  body: TEXT,
  transport: { fits: isObject, says: "an object" },
};
const CALL: Rules = { name: NAME, id: TEXT, input: { fits: isObject, says: "an object" }, input_json: TEXT };
const TRANSPORT: Rules = {
  split: SPLIT, pause_ms: TIME, cut: PLACE, reset: PLACE, stall: PLACE, content_type: NAME, after_terminal: TEXT,
  hold_open: { fits: (value) => typeof value === "boolean", says: "true or false" },
};
/** What a turn is, and what may stand beside it. The first that is present decides. */
const KINDS: { readonly [kind: string]: readonly string[] } = {
  http: ["retry_after_s", "body"], chunks: [], finish: ["text", "usage"], calls: ["text", "usage"], text: ["usage"],
};
const FAULTS = ["cut", "reset", "stall"];

/** A given value in a message, cut short. Never throws. */
function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A bigint, or a cycle: its type must do.
  }
  text ??= typeof value;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The first complaint about an object's members, if there is one. */
function complaint(value: { readonly [member: string]: unknown }, rules: Rules, prefix: string): string | undefined {
  for (const [name, given] of Object.entries(value)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) return `${prefix}${name} is no member; there are ${Object.keys(rules).join(", ")}`;
    if (given !== undefined && !rule.fits(given)) return `${prefix}${name} must be ${rule.says}, not ${shown(given)}`;
  }
  return undefined;
}

function callComplaint(call: unknown, prefix: string): string | undefined {
  if (!isObject(call)) return `${prefix} must be an object, not ${shown(call)}`;
  if (call["name"] === undefined) return `${prefix}.name is missing`;
  if (call["input"] !== undefined && call["input_json"] !== undefined) return `${prefix} has both input and input_json; give one`;
  return complaint(call, CALL, `${prefix}.`);
}

function transportComplaint(transport: { readonly [member: string]: unknown }, kind: string): string | undefined {
  const wrong = complaint(transport, TRANSPORT, "transport.");
  if (wrong !== undefined) return wrong;
  const faults = FAULTS.filter((name) => transport[name] !== undefined);
  if (faults.length > 1) return `transport has ${faults.join(" and ")}; give at most one of ${FAULTS.join(", ")}`;
  const [fault] = faults;
  if (fault === undefined) return undefined;
  if (typeof transport[fault] === "string" && (kind === "http" || kind === "chunks")) return `transport.${fault} must be a number of body bytes beside ${kind}: such an answer has no place "${transport[fault]}"`;
  const idle = ["hold_open", "after_terminal"].find((name) => transport[name] !== undefined && transport[name] !== false);
  return idle === undefined ? undefined : `transport.${idle} has no effect beside transport.${fault}`;
}

function turnComplaint(turn: unknown): string | undefined {
  if (!isObject(turn)) return `must be an object, not ${shown(turn)}`;
  const wrong = complaint(turn, TURN, "");
  if (wrong !== undefined) return wrong;
  const kind = Object.keys(KINDS).find((name) => turn[name] !== undefined);
  if (kind === undefined) return `needs one of ${Object.keys(KINDS).join(", ")}`;
  const beside = [kind, "transport", ...(KINDS[kind] ?? [])];
  const stray = Object.keys(turn).find((name) => !beside.includes(name));
  if (stray !== undefined) return `${stray} cannot stand beside ${kind}`;
  for (const [at, call] of ((turn["calls"] ?? []) as readonly unknown[]).entries()) {
    const bad = callComplaint(call, `calls[${String(at)}]`);
    if (bad !== undefined) return bad;
  }
  return turn["transport"] === undefined ? undefined : transportComplaint(turn["transport"] as { readonly [member: string]: unknown }, kind);
}

/** @throws Error that names the turn, from 0, and the member */
export function checkTurns(turns: unknown): void {
  if (!Array.isArray(turns) || turns.length === 0) throw new Error(`scripted provider: turns must be a list with at least one turn, not ${shown(turns)}`);
  for (const [at, turn] of turns.entries()) {
    const wrong = turnComplaint(turn);
    if (wrong !== undefined) throw new Error(`scripted provider: turn ${String(at)}: ${wrong}`);
  }
}

/** @throws Error that names the member */
export function checkScenario(scenario: unknown): void {
  if (!isObject(scenario)) throw new Error(`scripted provider: a scenario must be an object with name and turns, not ${shown(scenario)}`);
  if (scenario["name"] === undefined) throw new Error("scripted provider: name is missing from the scenario");
  const wrong = complaint(scenario, { name: NAME, turns: { fits: Array.isArray, says: "a list" } }, "");
  if (wrong !== undefined) throw new Error(`scripted provider: ${wrong}`);
  checkTurns(scenario["turns"]);
}

/** @throws Error that names the option */
export function checkSplit(split: unknown): void {
  if (split !== undefined && !SPLIT.fits(split)) throw new Error(`scripted provider: option split must be ${SPLIT.says}, not ${shown(split)}`);
}
