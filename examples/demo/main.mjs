// `cargo xtask demo`: a support agent over real HTTP, and what turnkeep refuses. Exit code 0 only if every expectation held.
import { playAgainst } from "./against.mjs";
import { hostile } from "./hostile.mjs";
import { Sheet } from "./sheet.mjs";
import { support } from "./support.mjs";

const given = process.argv.slice(2);
const sheet = new Sheet();

if (given.includes("--help") || given.includes("-h")) {
  console.log("demo                                              the scripted demonstration, both protocols");
  console.log("demo --provider URL --protocol chat|messages --model M [--extra JSON]\n       [--max-output-tokens N] [--no-tools] [--no-stream]");
  console.log("                                                  the same task against any server; key in TURNKEEP_API_KEY");
} else if (given.includes("--provider")) {
  await playAgainst(sheet, given);
} else {
  console.log("turnkeep demo: a scripted provider on loopback, real HTTP, nothing outside this machine.\n");
  for (const protocol of ["chat", "messages"]) await support(sheet, protocol);
  for (const protocol of ["chat", "messages"]) await hostile(sheet, protocol);
}
process.exitCode = sheet.close();
