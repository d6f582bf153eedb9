// From nothing: a run with one tool, its text as it streams.
import { runAgent, tool, type ModelProfile, type RunAgentOptions } from "turnkeep";
import { z } from "zod";

declare const env: { KEY: string };
const model: ModelProfile = { protocol: "chat", model: "some-model", base_url: "https://api.example.com/v1", prices: { input_usd_per_mtok: 1, output_usd_per_mtok: 4 } };

const options: RunAgentOptions = {
  tenant_subject: "acme", model, apiKey: () => env.KEY,
  prompt: "Refund order 7 if it was paid twice.", limits: { max_cost_usd: 0.5 },
  tools: {
    refund: tool({
      description: "Refund an order", side_effecting: true,
      input: z.object({ order: z.number().int(), amount_cents: z.number().int().positive() }),
      execute: (input, { idempotency_key, signal }) =>
        fetch(`https://shop.example.com/refunds/${input.order}`, { method: "POST", signal, headers: { "idempotency-key": idempotency_key }, body: String(input.amount_cents) }).then((response) => response.json()),
    }),
  },
};

export async function start(signal: AbortSignal): Promise<string> {
  await using run = runAgent({ ...options, signal });
  for await (const event of run) {
    switch (event.type) {
      case "text_delta": console.log(event.text); break;
      case "turn_rejected": console.log(`(taken back: ${event.error.code})`); break;
      case "tool_ended": console.log(event.name, event.result.ok ? event.result.output : event.result.code); break;
      case "budget": console.log(event.spend.cost_usd, event.remaining.max_cost_usd); break;
    }
  }
  const result = await run.result;
  return result.outcome === "completed" ? result.final_text : result.outcome;
}
