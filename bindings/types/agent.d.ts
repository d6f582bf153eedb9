import type { FetchLike, HostAbortSignal, HostPorts, JsonObject, JsonSchema, Secret, StandardSchema } from "./base.js";
import type { RequestUserGate, RequestUserGateOptions } from "./approval.js";
import type { AgentRuntimeConfig, AgentTaskLimits, ApprovalClasses, ModelProfile } from "./config.js";
import type { AgentEvent, ToolCallContext } from "./loop.js";
import type { AgentTaskResult, CreateAgentTaskRunOptions, ToolPolicy } from "./task.js";
import type { Message } from "./turn.js";

/** A tool with its schema, its policy and its code. `input` of `execute` is the schema's output; what is hashed is `context.input_json`. */
export interface AgentTool<Input = never> extends Omit<ToolPolicy, "side_effecting"> {
  readonly description: string;
  /** Required: the one thing nobody can guess for you. */
  readonly side_effecting: boolean;
  /** Checks each input before anything is claimed or run (P-17): a Standard Schema, or JSON Schema 2020-12. One that is none is `CONFIGURATION_ERROR`. */
  readonly input: StandardSchema<unknown, Input> | JsonSchema;
  /** For a Standard Schema that cannot describe itself as JSON Schema. */
  readonly input_schema?: JsonSchema | undefined;
  execute(input: Input, context: ToolCallContext): unknown;
}
export type AgentTools = { readonly [name: string]: AgentTool };
/**
 * Gives a tool its input type from its schema.
 *
 * @example
 * const lookup = tool({
 *   description: "Look an order up", side_effecting: false,
 *   input: z.object({ order: z.number().int() }),
 *   execute: ({ order }) => ({ order, state: "paid" }),
 * });
 */
export function tool<S extends StandardSchema>(
  definition: Omit<AgentTool<NonNullable<S["~standard"]["types"]>["output"]>, "input"> & { readonly input: S },
): AgentTool;
export function tool(definition: Omit<AgentTool<JsonObject>, "input"> & { readonly input: JsonSchema }): AgentTool;

/** Options of `runAgent`. */
export interface RunAgentOptions {
  /** One model, or the name of a profile of `config.models`. */
  readonly model: ModelProfile | string;
  /** Default `""`: no key is sent. */
  readonly apiKey?: Secret | undefined;
  readonly config?: AgentRuntimeConfig | undefined;
  /** First user message, or the first messages. Ignored with `resume`. */
  readonly prompt: string | readonly Message[];
  readonly system?: string | undefined;
  readonly tools?: AgentTools | undefined;
  /** Default true. */
  readonly stream?: boolean | undefined;
  /** `max_cost_usd` is required; `null` says "no money cap". Defaults: 40 steps, 600 s. */
  readonly limits: AgentTaskLimits & { readonly max_cost_usd: number | null };
  readonly approval_classes?: ApprovalClasses | undefined;
  /** Without one, calls that must be asked for are denied. */
  readonly gate?: RequestUserGate | Omit<RequestUserGateOptions, "registry"> | undefined;
  /** Default: random (UUIDv4). Required with `resume`. */
  readonly task_id?: string | undefined;
  /** Default "local". */
  readonly tenant_subject?: string | undefined;
  /** Default "local". */
  readonly actor_ref?: string | undefined;
  readonly resume?: CreateAgentTaskRunOptions["resume"];
  readonly settle_cost_usd?: CreateAgentTaskRunOptions["settle_cost_usd"];
  readonly onCheckpoint?: CreateAgentTaskRunOptions["onCheckpoint"];
  /** When the loop over events is left early. Default "stop": `client_disconnect`, resumable. */
  readonly on_disconnect?: "stop" | "continue" | undefined;
  readonly signal?: HostAbortSignal | undefined;
  readonly fetch?: FetchLike | undefined;
  readonly host?: HostPorts | undefined;
}
/** Starts at once. Iterate once, or not at all: events without a reader are dropped, never kept. */
export interface AgentRun extends AsyncIterable<AgentEvent> {
  readonly tenant_subject: string;
  readonly task_id: string;
  /** Settles with or without iteration. Rejects only for misuse and our bugs; never an unhandled rejection, and the iterator throws the same error. */
  readonly result: Promise<AgentTaskResult>;
  readonly gate: RequestUserGate;
  /** Cancels what is still running and waits for its result. */
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * The whole loop, for someone who starts from nothing.
 *
 * @throws CONFIGURATION_ERROR, LIMIT_INVALID, MODEL_PROFILE_UNKNOWN at once; TOOL_NAME_COLLISION and what comes later rejects `result`
 * @example
 * const run = runAgent({ model, apiKey, prompt: "Where is order 7?", tools: { lookup }, limits: { max_cost_usd: 0.5 } });
 * for await (const event of run) if (event.type === "text_delta") process.stdout.write(event.text);
 * const result = await run.result;
 */
export function runAgent(options: RunAgentOptions): AgentRun;
