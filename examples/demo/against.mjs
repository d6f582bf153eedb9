// The same task against any server. Says what came, in plain words; expects only that the run ended in a defined way and every call is paired.
import { runAgent } from "turnkeep";
import { paired, print, usd } from "./sheet.mjs";
import { QUESTION, shop, SYSTEM } from "./shop.mjs";

function option(given, name, fallback) {
  const at = given.indexOf(`--${name}`);
  return at === -1 ? fallback : given[at + 1];
}

export async function playAgainst(sheet, given) {
  const model = { protocol: option(given, "protocol", "chat"), model: option(given, "model", ""), base_url: option(given, "provider", ""), request: JSON.parse(option(given, "extra", "{}")) };
  const most = option(given, "max-output-tokens", "");
  if (most !== "") model.max_output_tokens = Number(most);
  const { ledger, tools } = shop();
  const apiKey = process.env.TURNKEEP_API_KEY ?? "";
  sheet.title(`${model.protocol} at ${model.base_url}, model ${model.model}`);
  sheet.line("user", QUESTION);
  let turns = 0;
  let rejected = 0;
  // The prices of an unknown server are unknown, so there is no money cap: steps and time are the bounds.
  const limits = { max_cost_usd: null, max_steps: 12, max_duration_s: 300 };
  const run = runAgent({ model, apiKey, prompt: QUESTION, system: SYSTEM, tools: given.includes("--no-tools") ? {} : tools, limits, stream: !given.includes("--no-stream") });
  for await (const event of run) {
    if (event.type === "turn") turns += 1;
    if (event.type === "turn_rejected") rejected += 1;
    print(sheet, event, limits.max_cost_usd);
  }
  const result = await run.result;
  const results = [...paired(result.checkpoint).values()];
  const calls = JSON.parse(result.checkpoint.history_json).flatMap((entry) => (entry.content_blocks ?? []).filter((block) => block.type === "tool_call"));
  sheet.line("outcome", `${result.outcome}${result.error === undefined ? "" : `: ${result.error.message}`}${result.limit === undefined ? "" : `: ${result.limit}`}`);
  sheet.line("turns", `${turns} decoded, ${rejected} rejected`);
  sheet.line("calls", `${ledger.length} run, ${results.filter(({ ok }) => !ok).length} refused or failed, ${results.length} paired results for ${calls.length} calls`);
  sheet.line("tokens", `${result.spend.input_tokens} in, ${result.spend.output_tokens} out, cost ${usd(result.spend.unknown_cost_steps > 0 ? null : result.spend.cost_usd)}`);
  sheet.expect("the run ended in a defined outcome", typeof result.outcome === "string");
  sheet.expect("at least one model turn was decoded", turns > 0);
  sheet.expect("each call has exactly one paired result", results.length === calls.length);
}
