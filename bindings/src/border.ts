/**
 * The border between the core and these bindings, as docs/border.md states it. Everything that crosses is bytes, numbers or JSON text.
 * This file has no behaviour: it names what the generated glue exports, so that nothing else depends on generated types.
 */

/** What every object that lives in wasm memory has, by wasm-bindgen. */
export interface RawObject {
  free(): void;
  /** Forgets the pointer and its finalizer without touching wasm memory. */
  __destroy_into_raw(): number;
}

/** One model response. */
export interface RawDecoder extends RawObject {
  error_json(): string;
  /** The number of records, and the state from `STATE_SHIFT` on. */
  push(bytes: Uint8Array): number;
  state(): number;
  records_ptr(): number;
  text_ptr(): number;
  text_len(): number;
  block_json(block: number): string;
  /** Bytes pushed so far, counted back from the last, that must not be handed on yet. Only with `hold`. */
  held(): number;
  finish(end: string): string;
  counters(): string;
}

/** One bounded task. */
export interface RawRun extends RawObject {
  error_json(): string;
  push(json: string): string;
  messages_json(): string;
  steps_json(): string;
  spend_json(): string;
  checkpoint_json(): string;
}

/** The module of generated glue. */
export interface Border {
  readonly Decoder: new (config_json: string) => RawDecoder;
  readonly Run: new (config_json: string) => RawRun;
  request(json: string): string;
  http_error(json: string): string;
  make_error(json: string): string;
  read_config(json: string): string;
  usage_cost(json: string): string;
  check_step(json: string): string;
  quirk_profiles(): string;
  version(): string;
  __wbg_set_wasm(exports: unknown): void;
}

/** Why a response ended, for `finish`. */
export type ResponseEnd = "eof" | "drain_deadline" | "abort" | "consumer" | "provider";

/** What `push` gives: the state in the two highest bits, the number of records below. */
export const STATE_SHIFT = 30;
export const COUNT_MASK = 0x3fffffff;

/** Decoder states. */
export const OPEN = 0;
export const DRAINING = 1;
export const FAILED = 2;
