/**
 * One model response through the core: one border crossing for each chunk, then the deltas are read from wasm memory.
 * Enforces nothing itself; the core does (S-01..S-22). Knows nothing of where bytes come from.
 */
import type { ProviderLimits, Protocol, Turn, TurnDelta } from "../types/index.js";
import { COUNT_MASK, OPEN, type RawDecoder, type ResponseEnd, STATE_SHIFT } from "./border.js";
import { TurnkeepError } from "./errors.js";
import { encode } from "./json.js";
import { accepted } from "./raise.js";
import { remember } from "./turn.js";
import { CoreObject } from "./wasm.js";

/** What a decoder must know before the first byte. */
export interface ResponseShape {
  readonly protocol: Protocol;
  readonly stream: boolean;
  readonly limits?: ProviderLimits | undefined;
  readonly quirks?: string | undefined;
  readonly model_profile: string;
  readonly model: string;
  /** Whether anybody listens. */
  readonly deltas: boolean;
  /** Wire names to governed names. */
  readonly names?: { readonly [wire: string]: string } | undefined;
  /** For a guard, which hands the bytes on: from where on they must be kept until the turn is sealed. */
  readonly hold?: "calls" | "terminal" | undefined;
}

/** What was counted of a response. */
export interface Counters {
  readonly bytes: number;
  readonly events: number;
}

const NONE: readonly TurnDelta[] = [];
const WORDS_PER_RECORD = 4;
const TEXT = 0;
const TOOL_INPUT = 1;

interface Call {
  readonly id: string;
  readonly name: string;
}

/** Feeds chunks, gives deltas, ends in exactly one turn or error. */
export class ResponseDecoder {
  readonly #core: CoreObject<RawDecoder>;
  readonly #text = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #calls = new Map<number, Call>();
  /** Fragments of calls whose id or name has not come yet. */
  readonly #early = new Map<number, string>();
  #state = OPEN;

  /** @throws what the core refuses of the configuration, WASM_TRAP */
  constructor(shape: ResponseShape) {
    const config = encode(shape, "limits");
    this.#core = new CoreObject("decoder", (border) => new border.Decoder(config));
    const refused = this.#core.use((raw) => raw.error_json());
    if (refused !== "") {
      this.#core.free();
      throw new TurnkeepError(JSON.parse(refused) as ConstructorParameters<typeof TurnkeepError>[0]);
    }
  }

  /** Feeds one chunk. The deltas are the caller's own: the next chunk overwrites what they were read from. */
  push(bytes: Uint8Array): readonly TurnDelta[] {
    return this.#core.use((raw, memory) => {
      const answer = raw.push(bytes);
      this.#state = answer >>> STATE_SHIFT;
      const count = answer & COUNT_MASK;
      if (count === 0) return NONE;
      // Views are made anew each time: memory may have grown during the push.
      const records = new Uint32Array(memory.buffer, raw.records_ptr(), count * WORDS_PER_RECORD);
      const text = this.#text.decode(new Uint8Array(memory.buffer, raw.text_ptr(), raw.text_len()));
      return this.#read(raw, records.slice(), text);
    });
  }

  /** Of the last push: 0 open, 1 terminal marker seen, 2 failed. */
  state(): number {
    return this.#core.use(() => this.#state);
  }

  /** How many of the bytes pushed so far, counted back from the last, must not be handed on yet. Only with `hold`. */
  held(): number {
    return this.#core.use((raw) => raw.held());
  }

  /** What was counted so far. */
  counters(): Counters {
    return JSON.parse(this.#core.use((raw) => raw.counters())) as Counters;
  }

  /** Ends the response, once. @throws the provider error or the protocol error of the response */
  finish(end: ResponseEnd): Turn {
    try {
      const answer = this.#core.use((raw) => raw.finish(end));
      const { value, json } = accepted(answer);
      return remember(value as Turn, json);
    } finally {
      this.free();
    }
  }

  /** Frees it without a result. Idempotent. */
  free(): void {
    this.#core.free();
  }

  #read(raw: RawDecoder, records: Uint32Array, text: string): readonly TurnDelta[] {
    const deltas: TurnDelta[] = [];
    let from = 0;
    for (let at = 0; at < records.length; at += WORDS_PER_RECORD) {
      const kind = records[at];
      const block = records[at + 1] ?? 0;
      const length = records[at + 2] ?? 0;
      const bytes = records[at + 3] ?? 0;
      const piece = kind === TEXT || kind === TOOL_INPUT ? text.slice(from, from + length) : "";
      from += piece.length;
      if (kind === TEXT) deltas.push({ type: "text_delta", block, text: piece });
      else if (kind === TOOL_INPUT) this.#readCall(raw, block, piece, deltas);
      else deltas.push({ type: "provider_state_delta", block, bytes });
    }
    return deltas;
  }

  #readCall(raw: RawDecoder, block: number, fragment: string, into: TurnDelta[]): void {
    const call = this.#calls.get(block) ?? this.#learn(raw, block);
    const json_fragment = (this.#early.get(block) ?? "") + fragment;
    if (call === undefined) {
      this.#early.set(block, json_fragment);
      return;
    }
    this.#early.delete(block);
    into.push({ type: "tool_input_delta", block, id: call.id, name: call.name, json_fragment });
  }

  #learn(raw: RawDecoder, block: number): Call | undefined {
    const json = raw.block_json(block);
    if (json === "") return undefined;
    const call = JSON.parse(json) as Call;
    this.#calls.set(block, call);
    return call;
  }
}
