/**
 * Whether an input fits its tool's schema (P-17): the tool's own Standard Schema, or JSON Schema through a library that needs no eval.
 * The core asks and decides; what cannot be evaluated does not fit.
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import type { AgentTools, JsonObject, JsonSchema, StandardSchema, ToolDefinition } from "../types/index.js";
import type { Clock } from "./host/clock.js";
import { Halt, started } from "./host/halt.js";
import { raised } from "./raise.js";

/** An input that fits, as its schema gives it to the tool, or why it does not. */
export type Checked = { readonly value: unknown } | { readonly refusal: string };
/** Checks inputs of one tool. */
export type Check = (input_json: string) => Promise<Checked>;

const REFUSED = Symbol.for("turnkeep.input_refused");

/** An input that does not fit its schema, found where nobody asked before: the call fails, the batch goes on (L-06). */
export class InputRefused extends Error {
  constructor(message: string) {
    super(message);
    Object.defineProperty(this, REFUSED, { value: true });
  }
}

/** Whether a tool's input was refused, in whatever copy of the package. */
export function isInputRefused(error: unknown): boolean {
  return typeof error === "object" && error !== null && REFUSED in error;
}

/** A schema may be asynchronous; one that never answers refuses. */
const CHECK_MS = 10_000;
const MAX_ISSUES = 3;
const MAX_ISSUE_CHARACTERS = 300;

/** Whether it is one. */
export function isStandard(schema: unknown): schema is StandardSchema {
  return (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;
}

/** The check of a tool; `undefined` when it has no schema. @throws CONFIGURATION_ERROR for a schema that is none */
export function checkOf({ name, input_schema }: ToolDefinition, tools: AgentTools | undefined): Check | undefined {
  const own = tools !== undefined && Object.hasOwn(tools, name) ? tools[name]?.input : undefined;
  if (isStandard(own)) return (input_json) => standard(own, input_json);
  const schema = own ?? input_schema;
  return schema === undefined ? undefined : jsonSchema(name, schema);
}

/** Runs a check to its end, within its time. Never rejects. */
export async function runCheck(check: Check, input_json: string, clock: Clock): Promise<Checked> {
  const halt = new Halt(clock);
  halt.after(CHECK_MS, "timeout");
  try {
    return await halt.wait(started(() => check(input_json)));
  } catch {
    return { refusal: halt.stop === undefined ? "The schema of the tool could not be evaluated." : "The schema of the tool did not answer." };
  } finally {
    halt.release();
  }
}

async function standard(schema: StandardSchema, input_json: string): Promise<Checked> {
  const checked = await schema["~standard"].validate(JSON.parse(input_json) as JsonObject);
  return checked.issues === undefined ? { value: checked.value } : { refusal: listed(checked.issues.map(issueText)) };
}

function issueText(issue: { readonly message: string; readonly path?: readonly unknown[] | undefined }): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" && part !== null && "key" in part ? part.key : part)).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/** The library compares each item with each: longer arrays are not given to a schema that asks for unique ones. */
const MAX_UNIQUE_ITEMS = 2_000;
/** Members that hold data and no schemas. */
const DATA = new Set(["const", "default", "enum", "examples"]);

/**
 * A copy of its own: the library marks what it has read, and a frozen schema is the host's good right. Without the format `url`, which is no
 * word of JSON Schema and whose expression takes seconds for some 40 characters: it would block every run of the process.
 */
function evaluable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(evaluable);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).filter(([name, value]) => name !== "format" || value !== "url");
  return Object.fromEntries(members.map(([name, value]: [string, unknown]) => [name, DATA.has(name) ? value : evaluable(value)]));
}

const TEXTS = { type: "array", items: { type: "string" } };
const WORDS = { enum: ["array", "boolean", "integer", "null", "number", "object", "string"] };
const COUNT = { type: "integer", minimum: 0 };
const INNER = { $ref: "#" };
const LIST = { type: "array", minItems: 1, items: INNER };
const NAMED = { type: "object", additionalProperties: INNER };
/**
 * What a schema itself must be: the library takes whatever it is given, and a misspelt `type` would let no input fit. Keywords that are not
 * here are not judged (JSON Schema ignores those it does not know).
 */
const SHAPE = {
  type: ["object", "boolean"],
  properties: {
    type: { anyOf: [WORDS, { type: "array", minItems: 1, items: WORDS }] },
    enum: { type: "array" }, required: TEXTS, pattern: { type: "string" }, format: { type: "string" }, $ref: { type: "string" },
    properties: NAMED, patternProperties: NAMED, $defs: NAMED, definitions: NAMED, dependentSchemas: NAMED,
    dependentRequired: { type: "object", additionalProperties: TEXTS },
    allOf: LIST, anyOf: LIST, oneOf: LIST, prefixItems: LIST, items: { anyOf: [LIST, INNER] },
    not: INNER, if: INNER, then: INNER, else: INNER, contains: INNER, additionalProperties: INNER, propertyNames: INNER,
    unevaluatedItems: INNER, unevaluatedProperties: INNER,
    minLength: COUNT, maxLength: COUNT, minItems: COUNT, maxItems: COUNT, minContains: COUNT, maxContains: COUNT, minProperties: COUNT, maxProperties: COUNT,
    minimum: { type: "number" }, maximum: { type: "number" }, exclusiveMinimum: { type: "number" }, exclusiveMaximum: { type: "number" },
    multipleOf: { type: "number", exclusiveMinimum: 0 }, uniqueItems: { type: "boolean" },
  },
};
let shape: Validator | undefined;

function misshapen(schema: unknown): string | undefined {
  shape ??= new Validator(SHAPE as Schema, "2020-12");
  const { valid, errors } = shape.validate(schema);
  const last = errors.at(-1);
  return valid ? undefined : `${pathOf(last?.instanceLocation ?? "")}${last?.error ?? "not a JSON Schema"}`;
}

function jsonSchema(name: string, schema: JsonSchema): Check {
  let validator: Validator;
  let unique: boolean;
  try {
    const text = JSON.stringify(schema);
    unique = text.includes('"uniqueItems":true');
    const wrong = misshapen(JSON.parse(text));
    if (wrong !== undefined) throw new TypeError(wrong);
    validator = new Validator(evaluable(JSON.parse(text)) as Schema, "2020-12");
  } catch (error) {
    throw raised("configuration_error", `tools.${name}.input_schema`, error);
  }
  return (input_json) => {
    let longest = 0;
    // Without prototypes: `required: ["constructor"]` asks for a member, not for what every object inherits.
    const bare: unknown = JSON.parse(input_json, (_key, value: unknown) => {
      if (Array.isArray(value)) longest = Math.max(longest, value.length);
      return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.assign(Object.create(null) as object, value) : value;
    });
    if (unique && longest > MAX_UNIQUE_ITEMS) return Promise.resolve({ refusal: `An array has more than ${String(MAX_UNIQUE_ITEMS)} items, and the schema asks for unique ones.` });
    const { valid, errors } = validator.validate(bare);
    // Outer messages only say that something inside is wrong: the last ones name it.
    const told = errors.slice(-MAX_ISSUES).map(({ instanceLocation, error }) => `${pathOf(instanceLocation)}${error}`);
    return Promise.resolve(valid ? { value: JSON.parse(input_json) as JsonObject } : { refusal: listed(told) });
  };
}

/** `#/order/0` is read as `order.0`. */
function pathOf(location: string): string {
  const path = location.replace(/^#\/?/, "").split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
  return path === "" ? "" : `${path}: `;
}

function listed(issues: readonly string[]): string {
  return issues.slice(0, MAX_ISSUES).map((issue) => issue.slice(0, MAX_ISSUE_CHARACTERS)).join("; ");
}
