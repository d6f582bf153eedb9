/**
 * One tool call that the core has permitted: its context, its deadline, and the one answer it becomes (L-03, R-11).
 * A throw stops the batch, a bad output does not; whether it ran at all is said with each answer.
 */
import type { AgentRuntime, Digest, JsonObject, RunRef, ToolCallContext } from "../types/index.js";
import { isEffectNotStarted, localError } from "./errors.js";
import type { Clock } from "./host/clock.js";
import { Halt, started } from "./host/halt.js";
import { outputJson, wellFormed } from "./json.js";
import type { ExecuteTool } from "./machine.js";
import { isInputRefused } from "./schema.js";
import { prepare } from "./tool.js";

/** What goes to the core, and what a loop of the host's own sees. */
export type ToolAnswer = { readonly input: JsonObject } & ({ readonly value: unknown } | { readonly thrown: unknown });

/** Amounts are added as whole nano-USD, rounded up, so that 0.1 and 0.2 are 0.3 (K-05). */
const NANO = 1e9;
/** What the model reads of a throw is cut here. */
const MAX_MESSAGE_CHARACTERS = 300;

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : typeof error === "string" ? error : "the tool threw";
  return wellFormed(text.slice(0, MAX_MESSAGE_CHARACTERS));
}

/** Runs one call to its one answer. Never rejects. */
export async function callTool(inner: AgentRuntime, moment: ExecuteTool, run: RunRef, clock: Clock, signal: AbortSignal | undefined, ready?: { readonly value: unknown }): Promise<ToolAnswer> {
  const cut = new AbortController();
  const onAbort = (): void => { cut.abort(signal?.reason); };
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  // Only the deadline ends the wait: an abort is the tool's to act on, and what it did is recorded (S-12).
  const halt = new Halt(clock);
  halt.after(moment.timeout_ms, "timeout");
  let nano_usd: number | undefined;
  const cost = (): JsonObject => (nano_usd === undefined ? {} : { cost_usd: nano_usd / NANO });
  const context: ToolCallContext = Object.freeze({
    ...run,
    step_id: moment.step_id,
    call_id: moment.call_id,
    idempotency_key: moment.idempotency_key,
    action_hash: moment.action_hash as Digest,
    input_json: moment.input_json,
    approval: null,
    reportCost: (usd: number) => {
      if (typeof usd !== "number" || !Number.isFinite(usd) || usd < 0) throw localError("INVALID_INPUT", "a cost is a finite number of US dollars, zero or more", undefined, "usd");
      nano_usd = (nano_usd ?? 0) + Math.ceil(Number((usd * NANO).toFixed(3)));
    },
    signal: cut.signal,
  });
  if (ready !== undefined) prepare(context, ready.value);
  const failed = (code: string, message: string, threw: boolean, effect: "none" | "unknown", thrown: unknown): ToolAnswer => ({
    input: { type: "tool_failed", key: moment.key, code, message, threw, effect, ...cost() },
    thrown,
  });
  try {
    const value = await halt.wait(started(() => inner.executeTool(moment.name, JSON.parse(moment.input_json) as JsonObject, context)));
    const output_json = outputJson(value);
    if (output_json === null) return failed("TOOL_OUTPUT_INVALID", "the tool ran, and what it returned is not JSON", false, "unknown", new TypeError("the tool's output is not JSON"));
    return { input: { type: "tool_result", key: moment.key, output_json, ...cost() }, value };
  } catch (error) {
    if (halt.stop === "timeout") {
      cut.abort(new DOMException("the tool's deadline has passed", "TimeoutError"));
      return failed("TOOL_TIMEOUT", `no result within ${String(moment.timeout_ms)} ms`, true, "unknown", error);
    }
    if (isInputRefused(error)) return failed("INVALID_TOOL_INPUT", messageOf(error), false, "none", error);
    return failed("TOOL_FAILED", messageOf(error), true, isEffectNotStarted(error) ? "none" : "unknown", error);
  } finally {
    halt.release();
    signal?.removeEventListener("abort", onAbort);
  }
}
