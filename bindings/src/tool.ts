/**
 * A tool with its schema, policy and code. The core decides whether a call may run, and has had its input checked (P-17); this file runs it.
 * Knows nothing of batches, budgets or results.
 */
import type { AgentTool, AgentTools, JsonObject, JsonSchema, ToolCallContext, ToolDefinition, ToolPolicy } from "../types/index.js";
import { raised } from "./raise.js";
import { checkOf, InputRefused, isStandard } from "./schema.js";

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

/** Inputs as their schemas gave them, by the context of their call. */
const prepared = new WeakMap<ToolCallContext, { readonly value: unknown }>();

/** Keeps what the schema made of a call's input for the tool itself. */
export function prepare(context: ToolCallContext, value: unknown): void {
  prepared.set(context, { value });
}

/**
 * Runs the tool with what its schema made of the input. Where a host's own runtime stands between us and the loop, the schema could not be
 * asked before; then it is asked here.
 * @throws InputRefused, and whatever the tool throws
 */
export async function runTool(tools: AgentTools, name: string, input: JsonObject, context: ToolCallContext): Promise<unknown> {
  const made = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (made === undefined) throw raised("configuration_error", `tools.${name}`);
  const ready = prepared.get(context) ?? (await checkOf({ name }, tools)?.(JSON.stringify(input))) ?? { value: input };
  if ("refusal" in ready) throw new InputRefused(ready.refusal);
  return await made.execute(ready.value as never, context);
}
