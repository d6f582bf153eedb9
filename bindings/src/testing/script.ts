/** The script of a provider: which answer comes next, and that nobody asks for one too many. */
import type { JsonObject, Protocol } from "../../types/index.js";
import type { ScriptedTransport, ScriptedTurn } from "../../types/testing.js";
import { checkTurns } from "./check.js";
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
    checkTurns(turns);
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
      return `scripted provider: asked for turn ${String(this.#turns.length + this.overrun - 1)}, but the last scripted turn is ${String(this.#turns.length - 1)}`;
    }
    const model = typeof request["model"] === "string" ? request["model"] : "scripted";
    const body: WireBody = wireBody(turn, { protocol, stream: request["stream"] === true, model, turn: this.#next });
    this.#next += 1;
    const { content_type, ...transport } = turn.transport ?? {};
    const travel = travelOf(body, { ...(split === undefined ? {} : { split }), ...transport });
    return { status: body.status, headers: content_type === undefined ? body.headers : { ...body.headers, "content-type": content_type }, travel };
  }
}
