/**
 * A tool with its schema, policy and code. The core decides whether a call may run; this file checks its input against the tool's own
 * Standard Schema (P-17) and runs it. Knows nothing of batches, budgets or results.
 */
import type { AgentTool, AgentTools, JsonObject, JsonSchema, StandardSchema, ToolCallContext, ToolDefinition, ToolPolicy } from "../types/index.js";
import { raised } from "./raise.js";

const REFUSED = Symbol.for("turnkeep.input_refused");

/** An input that does not fit its schema: the call fails, the batch goes on (L-06). */
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

/** Gives a tool its input type (types/agent.d.ts). The types do the work; the definition is frozen and checked for its two required members. */
export function tool(definition: unknown): AgentTool {
  const given = definition as Partial<AgentTool>;
  if (typeof given.execute !== "function") throw raised("invalid_input", "execute");
  if (typeof given.side_effecting !== "boolean") throw raised("invalid_input", "side_effecting");
  return Object.freeze({ ...(definition as AgentTool) });
}

interface Describes {
  readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => JsonSchema };
}

function isStandard(schema: unknown): schema is StandardSchema {
  return (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;
}

function schemaOf(name: string, made: AgentTool): JsonSchema {
  if (made.input_schema !== undefined) return made.input_schema;
  if (!isStandard(made.input)) return made.input;
  const describe = (made.input["~standard"] as unknown as Describes).jsonSchema?.input;
  if (describe === undefined) throw raised("configuration_error", `tools.${name}.input_schema`);
  return describe({ target: "draft-2020-12" });
}

/** What the model is told. @throws CONFIGURATION_ERROR for a schema that cannot describe itself */
export function definitionsOf(tools: AgentTools): readonly ToolDefinition[] {
  return Object.entries(tools).map(([name, made]) => ({ name, description: made.description, input_schema: schemaOf(name, made) }));
}

/** What a tool declares, as data. */
export function policyOf(tools: AgentTools, name: string): ToolPolicy | undefined {
  if (!Object.hasOwn(tools, name)) return undefined;
  const { approval_class, side_effecting, timeout_s, big_integers } = tools[name] as AgentTool;
  return { approval_class, side_effecting, timeout_s, big_integers };
}

const MAX_ISSUE_CHARACTERS = 300;

function issueText(issue: { readonly message: string; readonly path?: readonly unknown[] | undefined }): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" && part !== null && "key" in part ? part.key : part)).join(".");
  return (path === "" ? issue.message : `${path}: ${issue.message}`).slice(0, MAX_ISSUE_CHARACTERS);
}

/** Checks the input and runs the tool. @throws InputRefused, and whatever the tool throws */
export async function runTool(tools: AgentTools, name: string, input: JsonObject, context: ToolCallContext): Promise<unknown> {
  const made = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (made === undefined) throw raised("configuration_error", `tools.${name}`);
  if (!isStandard(made.input)) return made.execute(input as never, context);
  const checked = await made.input["~standard"].validate(input);
  if (checked.issues !== undefined) throw new InputRefused(checked.issues.slice(0, 3).map(issueText).join("; "));
  return made.execute(checked.value, context);
}
