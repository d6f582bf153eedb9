/** For programs that read files: the module is `core.wasm` beside us, read at first use. See `read.node.ts`. */
import { compile } from "../load.js";
import { provide } from "../wasm.js";
import { coreBytes } from "./read.node.js";

provide(() => compile(coreBytes()));

export * from "../api.js";
