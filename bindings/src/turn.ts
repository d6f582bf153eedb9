/**
 * The text a turn was read from. A value that JSON.parse made has lost the digits of integers beyond 2^53-1; its text has not (N-04).
 * Only frozen turns of our own decoder are remembered: a turn that a host made or changed is encoded anew and checked by the core (K-03).
 */
import type { Turn } from "../types/index.js";
import { encode, frozen } from "./json.js";

const texts = new WeakMap<Turn, string>();

/** Freezes a decoder's turn and keeps its text beside it. */
export function remember(turn: Turn, json: string): Turn {
  frozen(turn);
  texts.set(turn, json);
  return turn;
}

/** The text of a turn. @throws INVALID_INPUT when a host's turn is not JSON */
export function turnJson(turn: unknown): string {
  return (typeof turn === "object" && turn !== null ? texts.get(turn as Turn) : undefined) ?? encode(turn, "turn");
}

/** A turn that was cut by the caller before anything of it could be used (S-12). */
export const CANCELLED: Turn = frozen({ status: "cancelled", requested_tools: [], content_blocks: [], dropped_calls: 0, assistant_text: "", usage: null });
/** The same, when the reader of our events left (S-13). */
export const CONSUMER_LEFT: Turn = frozen({ ...CANCELLED, status: "client_disconnect", details: { side: "consumer" } } as const);
