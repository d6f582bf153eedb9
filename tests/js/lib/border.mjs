// The core of the installed package, through its own glue: what the tests of the border use, independent of the
// bindings above it. See docs/border.md.
import { readFileSync } from "node:fs";

const inPackage = (path) => new URL(path, import.meta.resolve("turnkeep/package.json"));

const GLUE = inPackage("./dist/generated/glue.js");
const module = new WebAssembly.Module(readFileSync(inPackage("./dist/core.wasm")));

/** The glue of an instance of its own: a module of that query is evaluated anew, with views of no other memory. */
async function instantiate(query) {
  const glue = await import(GLUE.href + query);
  const { exports } = new WebAssembly.Instance(module, { "./turnkeep_bg.js": glue });
  glue.__wbg_set_wasm(exports);
  exports.__wbindgen_start?.();
  return { glue, exports };
}

const { glue } = await instantiate("");
let instances = 0;

/** A core that nothing has used yet, and how many bytes its memory has. */
export async function freshCore() {
  const { glue: { Decoder: fresh }, exports } = await instantiate(`?instance=${++instances}`);
  return { Decoder: fresh, bytes: () => exports.memory.buffer.byteLength };
}

export const { Decoder, canonical, hash, http_error } = glue;
export const imports = WebAssembly.Module.imports(module);

/** The pieces of `body` between ascending cuts, empty ones left out. */
function* pieces(body, cuts) {
  let start = 0;
  for (const cut of cuts) {
    if (cut > start) yield body.subarray(start, cut);
    start = Math.max(start, cut);
  }
  if (start < body.length) yield body.subarray(start);
}

/** Decodes one response, read up to each cut. Gives the text of `{"ok"}` or `{"error"}`. */
export function decode({ protocol, stream, limits, ending, status }, body, cuts) {
  if (status && (status < 200 || status > 299)) {
    return `{"error":${http_error(JSON.stringify({ status, cause: "http", body: new TextDecoder().decode(body), protocol }))}}`;
  }
  const decoder = new Decoder(JSON.stringify({ protocol, stream, limits, model_profile: "m", model: "m", deltas: false }));
  try {
    for (const piece of pieces(body, cuts)) {
      decoder.push(piece);
      if (decoder.state() === 2) break;
    }
    return decoder.finish(ending === "held_open" ? (decoder.state() === 1 ? "drain_deadline" : "eof") : ending);
  } finally {
    decoder.free();
  }
}
