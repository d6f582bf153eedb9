// A bounded task around your own tool and your own storage. A budget stops it; a second run takes its checkpoint and goes on. Runs offline:
//   node examples/node/task.mjs
import { createAgentTaskRun, createFetchRuntime, readAgentRuntimeConfig, readTrustedModelCostProfile, runGovernedAgentLoop, tool, usageCostUsd } from "turnkeep";
import { startScriptedServer } from "turnkeep/testing";

// Stands for the provider. With a real one, give its `base_url` and key below.
const server = await startScriptedServer({
  name: "task",
  turns: [
    { text: "Let me look.", calls: [{ name: "shop:lookup_order", input: { order: 7 } }], usage: { input_tokens: 1000, output_tokens: 100 } },
    { text: "Order 7 is paid.", usage: { input_tokens: 1200, output_tokens: 40 } },
  ],
});

const profile = "main";
const config = readAgentRuntimeConfig({
  models: { [profile]: { protocol: "chat", model: "some-model", base_url: server.url, prices: { input_usd_per_mtok: 3, output_usd_per_mtok: 15 } } },
  limits: { max_steps: 100, max_cost_usd: 5, max_duration_s: 3600 }, // ceilings: no task may ask for more
});
const prices = readTrustedModelCostProfile(config, profile);

const tools = {
  "shop:lookup_order": tool({
    description: "Look an order up by its number",
    side_effecting: false,
    input: { type: "object", properties: { order: { type: "integer" } }, required: ["order"] },
    execute: ({ order }) => ({ order, state: "paid", total_usd: 30 }),
  }),
};
const catalog = Object.entries(tools).map(([name, { description, input }]) => ({ name, description, input_schema: input }));
const runtime = createFetchRuntime({ config, apiKey: "", tools });

const saved = new Map(); // your store: a checkpoint is plain JSON
async function work(max_cost_usd, resume) {
  const run = createAgentTaskRun({
    task_id: "order-7", tenant_subject: "acme", actor_ref: "user:7",
    limits: { max_steps: 40, max_cost_usd, max_duration_s: 600 },
    packLimits: config.limits,
    toolPolicy: (name) => (name in tools ? { side_effecting: tools[name].side_effecting } : undefined), // undefined: no such tool
    costOfUsage: (usage) => usageCostUsd(usage, prices),
    onCheckpoint: (checkpoint) => { saved.set(checkpoint.task_id, JSON.stringify(checkpoint)); },
    resume,
  });
  try {
    const messages = resume === undefined ? [{ role: "user", content: "What is the state of order 7?" }] : run.resumeMessages();
    return await runGovernedAgentLoop({ runtime: run.guardRuntime(runtime), ...run.hooks, model_profile: profile, messages, tools: catalog });
  } finally {
    run[Symbol.dispose]();
  }
}

function report(result) {
  console.log(`${result.outcome}: ${result.steps.length} steps, ${result.spend.cost_usd} USD`);
  if (result.outcome === "budget_exhausted") console.log(`  ${result.limit}: used ${result.details.used} of ${result.details.max}`);
  if (result.outcome === "failed") console.error(result.error.message);
}

report(await work(0.004)); // the first model call costs 0.0045 USD, so there is no second one
const last = await work(0.05, JSON.parse(saved.get("order-7"))); // spend, steps and time go on from there
report(last);
console.log(last.final_text);
await server.close();
