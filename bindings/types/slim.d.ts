export * from "./index.js";
/**
 * For `turnkeep/slim`: hands the compiled `turnkeep/core.wasm` over, once, before anything else. Calling again with the same is a no-op.
 *
 * @throws INVALID_STATE when another module was given before; everything else throws NOT_INITIALIZED until it was called
 * @example
 * import module from "turnkeep/core.wasm";
 * init(module);
 */
export function init(module: object): void;
