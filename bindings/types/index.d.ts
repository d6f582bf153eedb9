// turnkeep: an LLM agent's loop, bounded, gated and receipted. Rule ids (P-, S-, L-, ...) are those of docs/rules.md.
//
// What is stored, hashed or sent is data: snake_case (`task_id`). Functions, methods and options that only wire the host are camelCase.
// Units stand in the name: `_s` seconds, `_ms` milliseconds, `_usd` US dollars, `_bytes`. Times are RFC 3339 UTC.
// How a run ends is a value (`outcome`). What is thrown is always a `TurnkeepError`: misuse, a checkpoint not saved, or our own bug.
// Needs no `dom` library: host classes are looked up on `globalThis`, else described here.
/// <reference lib="esnext.disposable" />

export * from "./agent.js";
export * from "./approval.js";
export * from "./base.js";
export * from "./config.js";
export * from "./errors.js";
export * from "./guard.js";
export * from "./loop.js";
export * from "./task.js";
export * from "./turn.js";

/** The package's version. */
export const VERSION: string;
