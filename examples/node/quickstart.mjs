// The shortest whole agent: one model, one tool, a money cap. Run it against any server that speaks Chat Completions:
//   MODEL=some-model BASE_URL=http://127.0.0.1:8080/v1 node examples/node/quickstart.mjs
import { FREE, runAgent, tool } from "turnkeep";

const { MODEL = "some-model", BASE_URL = "http://127.0.0.1:8080/v1", API_KEY = "" } = process.env;

const lookup = tool({
  description: "Look an order up by its number",
  side_effecting: false,
  input: { type: "object", properties: { order: { type: "integer" } }, required: ["order"] },
  execute: ({ order }) => ({ order, state: "paid", total_usd: 30 }),
});

const run = runAgent({
  model: { protocol: "chat", model: MODEL, base_url: BASE_URL, prices: FREE },
  apiKey: API_KEY,
  prompt: "What is the state of order 7?",
  tools: { "shop:lookup_order": lookup },
  limits: { max_cost_usd: 0.1, max_steps: 10 },
});

for await (const event of run) {
  if (event.type === "text_delta") process.stdout.write(event.text);
  if (event.type === "tool_ended") console.log(`\n[${event.name}] ${JSON.stringify(event.result)}`);
  if (event.type === "turn_rejected") console.log(`\n(not counted: ${event.error.message})`);
}
const result = await run.result;
console.log(`\n${result.outcome}: ${result.steps.length} steps, ${result.spend.cost_usd} USD`);
if (result.outcome === "failed") console.error(result.error.message);
