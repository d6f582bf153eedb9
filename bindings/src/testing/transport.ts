/** How a body travels: cut into writes, and with the faults a scenario asks for. Pure: gives writes and an end, does no I/O. */
import type { FaultPlace, ScriptedTransport } from "../../types/testing.js";
import type { WireBody } from "./wire.js";

/** `close`: the body ends. `reset`: the connection breaks. `hold`: nothing more comes, and it stays open. */
export interface Travel {
  readonly writes: readonly Uint8Array[];
  readonly end: "close" | "reset" | "hold";
  readonly pause_ms: number;
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A small seeded generator (mulberry32): the same seed gives the same cuts everywhere. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function split(pieces: readonly Uint8Array[], how: ScriptedTransport["split"]): readonly Uint8Array[] {
  if (how === undefined || how === "whole") return pieces;
  const whole = concat(pieces);
  const next = typeof how === "object" ? random(how.seed) : undefined;
  const fixed = how === "bytes" ? 1 : typeof how === "number" ? how : how.max;
  const writes: Uint8Array[] = [];
  for (let at = 0; at < whole.length; ) {
    const length = next === undefined ? fixed : 1 + Math.floor(next() * fixed);
    writes.push(whole.subarray(at, at + length));
    at += length;
  }
  return writes;
}

/** Bytes before the place. */
function offset(place: FaultPlace, body: WireBody, pieces: readonly Uint8Array[]): number {
  if (typeof place === "number") return place;
  const index = place === "before_finish" ? body.finish : body.terminal;
  if (index === undefined || index < 0) throw new Error(`scripted provider: this answer has no place "${place}"`);
  return pieces.slice(0, index).reduce((sum, piece) => sum + piece.length, 0);
}

/** What is written, and how it ends. */
export function travelOf(body: WireBody, transport: ScriptedTransport = {}): Travel {
  const encoder = new TextEncoder();
  const pieces = body.pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const faults = (["cut", "reset", "stall"] as const).filter((name) => transport[name] !== undefined);
  const pause_ms = transport.pause_ms ?? 0;
  const fault = faults[0];
  if (fault !== undefined) {
    const kept = concat(pieces).subarray(0, offset(transport[fault] as FaultPlace, body, pieces));
    const whole = transport.split === undefined || transport.split === "whole" ? upTo(pieces, kept.length) : split([kept], transport.split);
    return { writes: whole, end: fault === "cut" ? "close" : fault === "reset" ? "reset" : "hold", pause_ms };
  }
  const after = transport.after_terminal === undefined ? [] : [encoder.encode(transport.after_terminal)];
  return { writes: [...split(pieces, transport.split), ...after], end: transport.hold_open === true ? "hold" : "close", pause_ms };
}

/** The pieces up to an offset, the last one shortened. */
function upTo(pieces: readonly Uint8Array[], end: number): readonly Uint8Array[] {
  const kept: Uint8Array[] = [];
  let at = 0;
  for (const piece of pieces) {
    if (at >= end) break;
    kept.push(piece.subarray(0, end - at));
    at += piece.length;
  }
  return kept;
}
