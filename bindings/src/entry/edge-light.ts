/** Edge runtimes give a compiled module for `?module`. */
import module from "../core.wasm?module";
import { provide } from "../wasm.js";

provide(() => module);

export * from "../api.js";
