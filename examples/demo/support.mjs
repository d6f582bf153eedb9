// A task that goes well, one batch that does not fit, and one budget that ends a run.
import { runAgent } from "turnkeep";
import { startScriptedServer } from "turnkeep/testing";
import { paired, print, usd } from "./sheet.mjs";
import { LOOKUP, POLICY, PRICES, QUESTION, REFUND, shop, SYSTEM } from "./shop.mjs";

/** Plays turns from a scripted server and prints the run. */
export async function play(sheet, protocol, turns, { limits, config, quiet = false }) {
  const server = await startScriptedServer({ name: protocol, turns });
  const { ledger, tools } = shop();
  try {
    const model = { protocol, model: "scripted", base_url: server.url, prices: PRICES };
    const run = runAgent({ model, config, prompt: QUESTION, system: SYSTEM, tools, limits });
    for await (const event of run) if (!quiet || event.type === "tool_ended" || event.type === "turn_rejected") print(sheet, event, limits.max_cost_usd);
    const result = await run.result;
    return { result, ledger, results: paired(result.checkpoint), asked: server.requests.length };
  } finally {
    await server.close();
  }
}

const names = (ledger) => (ledger.length === 0 ? "empty" : ledger.map(({ name, input }) => `${name} ${JSON.stringify(input)}`).join(", "));

export async function support(sheet, protocol) {
  sheet.title(`${protocol}: a support task, with a cap of $0.05`);
  sheet.line("note", "This release cannot ask a person yet, so the refund declares no approval class and runs without");
  sheet.line("", "being asked for. A tool that does declare one is refused (APPROVAL_REQUIRED); it never runs.");
  sheet.line("user", QUESTION);
  const turns = [
    { text: "I will look at the order and at our policy.", calls: [LOOKUP, POLICY], usage: { input_tokens: 420, output_tokens: 60 }, transport: { split: 9, pause_ms: 1 } },
    { text: "It was charged twice, and the policy allows a refund.", calls: [REFUND], usage: { input_tokens: 610, output_tokens: 48 }, transport: { split: 9, pause_ms: 1 } },
    { text: "Order 7 was charged twice; I refunded $30.", usage: { input_tokens: 700, output_tokens: 22 }, transport: { split: 9, pause_ms: 1 } },
  ];
  const good = await play(sheet, protocol, turns, { limits: { max_cost_usd: 0.05 } });
  sheet.line("outcome", `${good.result.outcome}, ${usd(good.result.spend.cost_usd)} spent`);
  sheet.expect("the task completed, and each of the three calls ran once", good.result.outcome === "completed" && good.ledger.length === 3);
  sheet.expect("every call has exactly one paired result in the history", good.results.size === 3 && [...good.results.values()].every(({ ok }) => ok));
  sheet.expect("the refund left a receipt", good.result.checkpoint.receipts.length === 1 && good.result.checkpoint.receipts[0].tool === "shop:refund");
  sheet.expect("the spend is the sum of its steps: $0.007140", good.result.spend.cost_usd === 0.00714);

  sheet.title(`${protocol}: three calls where two are allowed`);
  const config = { models: {}, limits: { max_tool_calls_per_session: 2 } };
  const batch = await play(sheet, protocol, [{ calls: [LOOKUP, POLICY, REFUND] }, { text: "I could not do that." }], { limits: { max_cost_usd: 0.05 }, config, quiet: true });
  sheet.line("ledger", names(batch.ledger));
  sheet.expect("no tool ran", batch.ledger.length === 0);
  sheet.expect("each of the three calls got a paired LIMIT_EXCEEDED result", batch.results.size === 3 && [...batch.results.values()].every(({ code }) => code === "LIMIT_EXCEEDED"));
  sheet.expect("the loop went on: the model answered, and the run completed", batch.result.outcome === "completed");

  sheet.title(`${protocol}: a budget of three steps`);
  const stop = await play(sheet, protocol, turns.slice(0, 1), { limits: { max_cost_usd: 0.05, max_steps: 3 }, quiet: true });
  const { limit, details } = stop.result;
  sheet.line("outcome", `${stop.result.outcome}: ${limit}, used ${details?.used} of ${details?.max}`);
  sheet.expect("the run stopped before the next model call and names max_steps", stop.result.outcome === "budget_exhausted" && limit === "max_steps" && stop.asked === 1);
  sheet.expect("its checkpoint holds both results, so that it can be resumed", stop.results.size === 2 && stop.result.checkpoint.steps.length === 3);
}
