/** Reads the module beside the entry. */
import { readFileSync } from "node:fs";

/** The bytes of `core.wasm`. */
export function coreBytes(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL("../core.wasm", import.meta.url)));
}
