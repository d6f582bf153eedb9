/** workerd refuses to compile bytes: the import itself gives a compiled module. */
import module from "../core.wasm";
import { provide } from "../wasm.js";

provide(() => module);

export * from "../api.js";
