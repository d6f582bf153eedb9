/** The module stands in the JavaScript itself, and is compiled at first use: no file, no fetch, no top-level await. */
import base64 from "../generated/wasm-base64.js";
import { bytesOfBase64, compile } from "../load.js";
import { provide } from "../wasm.js";

provide(() => compile(bytesOfBase64(base64)));

export * from "../api.js";
