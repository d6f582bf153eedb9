/** The script of a provider: which answer comes next, and that nobody asks for one too many. */
import type { JsonObject, Protocol } from "../../types/index.js";
import type { ScriptedTransport, ScriptedTurn } from "../../types/testing.js";
import { type Travel, travelOf } from "./transport.js";
import { type WireBody, wireBody } from "./wire.js";

/** One answer, ready to send. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly travel: Travel;
}

/** Turns in order. */
export class Script {
  readonly #turns: readonly ScriptedTurn[];
  #next = 0;
  /** Requests beyond the last turn. */
  overrun = 0;

  constructor(turns: readonly ScriptedTurn[]) {
    if (!Array.isArray(turns)) throw new Error("scripted provider: turns must be a list");
    turns.forEach((turn: unknown, at) => { check(turn, at); });
    this.#turns = turns;
  }

  get left(): number {
    return this.#turns.length - this.#next;
  }

  /** The next answer, or the sentence that says there is none. */
  take(protocol: Protocol, request: JsonObject, split?: ScriptedTransport["split"]): Answer | string {
    const turn = this.#turns[this.#next];
    if (turn === undefined) {
      this.overrun += 1;
      return `scripted provider: asked for turn ${String(this.#turns.length + this.overrun)}, but only ${String(this.#turns.length)} are scripted`;
    }
    const model = typeof request["model"] === "string" ? request["model"] : "scripted";
    const body: WireBody = wireBody(turn, { protocol, stream: request["stream"] === true, model, turn: this.#next });
    this.#next += 1;
    const { content_type, ...transport } = turn.transport ?? {};
    const travel = travelOf(body, { ...(split === undefined ? {} : { split }), ...transport });
    return { status: body.status, headers: content_type === undefined ? body.headers : { ...body.headers, "content-type": content_type }, travel };
  }
}

const KINDS = ["text", "calls", "finish", "http", "chunks"];
const MEMBERS = new Set([...KINDS, "usage", "transport", "retry_after_s", "body"]);
const TRANSPORT = new Set(["split", "pause_ms", "cut", "reset", "stall", "hold_open", "after_terminal", "content_type"]);

/** A scenario is data somebody typed: a wrong member is an error, not an answer without it. */
function check(turn: unknown, at: number): void {
  const fail = (what: string): never => { throw new Error(`scripted provider: turn ${String(at)} ${what}`); };
  if (typeof turn !== "object" || turn === null) return fail("is not an object");
  if (!KINDS.some((kind) => kind in turn)) fail(`has none of ${KINDS.join(", ")}`);
  for (const name of Object.keys(turn)) if (!MEMBERS.has(name)) fail(`has an unknown member "${name}"`);
  const { transport = {}, calls } = turn as { readonly transport?: object; readonly calls?: unknown };
  for (const name of Object.keys(transport)) if (!TRANSPORT.has(name)) fail(`has an unknown transport member "${name}"`);
  if (calls !== undefined && !Array.isArray(calls)) fail("has calls that are not a list");
}
