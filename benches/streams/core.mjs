// The core of the installed package through its own glue: the border below the public API (docs/border.md).
import { readFileSync } from "node:fs";

const inPackage = (path) => new URL(path, import.meta.resolve("turnkeep/package.json"));

export const glue = await import(inPackage("./dist/generated/glue.js"));
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(inPackage("./dist/core.wasm"))), { "./turnkeep_bg.js": glue });
glue.__wbg_set_wasm(exports);
exports.__wbindgen_start?.();
export const { version } = JSON.parse(readFileSync(inPackage("./package.json"), "utf8"));
