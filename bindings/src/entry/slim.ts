/** No module inside: the program hands one over with `init`. Everything else before is NOT_INITIALIZED. */
export * from "../api.js";
export { init } from "../wasm.js";
