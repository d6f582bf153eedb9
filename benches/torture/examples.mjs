// The programs of docs/guard.md, run as they stand: over a legal turn they answer, over an unsafe one they say why not.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const EXAMPLES = [["openai", "chat", "stop with calls"], ["anthropic", "messages", "end_turn with calls"], ["ai", "chat", "stop with calls"]];

/** Runs each example twice. `conversation` numbers the paths of the server from there on. */
export async function runExamples({ origin, streams, conversation, demand }) {
  let at = conversation;
  for (const [name, protocol, unsafe] of EXAMPLES) for (const id of ["a legal tool turn", unsafe]) {
    const place = streams.findIndex((stream) => stream.protocol === protocol && stream.id === id);
    const url = `${origin}/${at}/${place}`;
    at += 1;
    const env = {
      ...process.env, OPENAI_API_KEY: "none", ANTHROPIC_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_BASE_URL: url, AI_SDK_LOG_WARNINGS: "false",
    };
    const program = new URL(`examples/${name}.mjs`, import.meta.url).pathname;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--no-warnings", program], { env, timeout: 20_000 }).catch((error) => error);
    const legal = id !== unsafe;
    const right = legal ? stdout.trimEnd().endsWith("Done.") && stderr === "" : stderr.startsWith("FINISH_REASON_MISMATCH: ") && !stdout.includes("Done.");
    demand(right, `example ${name}, ${id}: ${JSON.stringify({ stdout, stderr }).slice(0, 400)}`);
  }
}
