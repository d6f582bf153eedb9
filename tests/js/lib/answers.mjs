// `node answers.mjs MODULE KIND COUNT SEED`: what the wasm32 build of the core says of generated things; one JSON line each.
import { createRequire } from "node:module";

const [, , module, kind, count, seed] = process.argv;
const { answers } = createRequire(import.meta.url)(module);
const AT_ONCE = 500;
for (let from = 0; from < Number(count); from += AT_ONCE) process.stdout.write(answers(kind, from, Math.min(AT_ONCE, Number(count) - from), BigInt(seed)));
