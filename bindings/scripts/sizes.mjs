// Prints, as JSON, the sizes of core.wasm and of each entry with everything it imports, as the package ships them
// (not minified). Files are compressed one by one, as a server or a registry page would.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const pkg = join(dirname(fileURLToPath(import.meta.url)), "../../pkg");
const manifest = JSON.parse(readFileSync(join(pkg, "package.json"), "utf8"));

/** Every JavaScript file that package.json exports, by a readable name. */
function entries(exports) {
  const found = new Map();
  const visit = (value, name) => {
    if (typeof value === "string") {
      if (value.endsWith(".js")) found.set(value, name);
    } else {
      for (const [condition, inner] of Object.entries(value)) visit(inner, condition === "default" ? name : `${name} ${condition}`);
    }
  };
  for (const [path, value] of Object.entries(exports)) visit(value, path);
  return found;
}

const measure = (buffers) => ({
  raw: sum(buffers, (b) => b.length),
  gzip: sum(buffers, (b) => gzipSync(b, { level: 9 }).length),
  brotli: sum(buffers, (b) => brotliCompressSync(b).length),
});
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

const core = readFileSync(join(pkg, "dist/core.wasm"));
const rows = [{ name: "core.wasm", ...measure([core]) }];
for (const [file, name] of entries(manifest.exports)) {
  const result = await build({
    entryPoints: [join(pkg, file)], bundle: true, write: false, metafile: true, format: "esm", platform: "neutral",
    external: ["node:*", "zod", "*.wasm", "*.wasm?module"], logLevel: "error", absWorkingDir: pkg,
    nodePaths: [join(pkg, "../bindings/node_modules")], mainFields: ["module", "main"],
  });
  const files = Object.keys(result.metafile.inputs);
  const text = Buffer.concat(files.map((path) => readFileSync(join(pkg, path))));
  const usesFile = files.every((path) => !path.endsWith("wasm-base64.js")) && needsCore(name);
  rows.push({ name, ...measure(usesFile ? [text, core] : [text]) });
}
console.log(JSON.stringify(rows));

/** The helper entries (testing, zod) bring no core of their own. */
function needsCore(name) {
  return !name.startsWith("./testing") && !name.startsWith("./zod");
}
