// The task contract: your loop options, your storage; our budgets, batches, receipts and resume.
import {
  createAgentTaskRun, createApprovalClassRegistry, createFetchRuntime, createRequestUserGate, readTrustedModelCostProfile, runGovernedAgentLoop,
  TurnkeepError, usageCostUsd, type AgentRuntimeConfig, type AgentTaskCheckpoint, type AgentTaskResult, type ToolPolicy,
} from "turnkeep";

const config: AgentRuntimeConfig = {
  limits: { max_steps: 100, max_cost_usd: 5, max_duration_s: 3600 },
  models: { main: { protocol: "messages", model: "some-model", base_url: "https://api.example.com/v1", prices: { input_usd_per_mtok: 3, output_usd_per_mtok: 15 } } },
  approval_classes: { money: { expires_in_s: 600, title: "Moves money" } },
};
const policies: Record<string, ToolPolicy> = { "shop:refund": { approval_class: "money", side_effecting: true }, "shop:lookup": { side_effecting: false } };
const registry = createApprovalClassRegistry(config.approval_classes);
const saved = new Map<string, AgentTaskCheckpoint>();
declare function refund(order: unknown, key: string, signal: AbortSignal): Promise<{ refund_id: string }>;

export const gate = createRequestUserGate({ registry });

export async function handle(task_id: string, question: string, signal: AbortSignal): Promise<string> {
  const resume = saved.get(task_id);
  using run = createAgentTaskRun({
    task_id, tenant_subject: "acme", actor_ref: "user:7",
    limits: { max_steps: 40, max_cost_usd: 2, max_duration_s: 600 }, packLimits: config.limits,
    gate, registry, resume,
    toolPolicy: (name) => policies[name],
    costOfUsage: (usage, { model_profile }) => usageCostUsd(usage, readTrustedModelCostProfile(config, model_profile)),
    onCheckpoint: (checkpoint) => {
      if ((saved.get(task_id)?.revision ?? -1) >= checkpoint.revision) throw new Error("another worker saved first");
      saved.set(task_id, checkpoint);
    },
  });
  const http = createFetchRuntime({ config, apiKey: () => "from your secret store" });
  const runtime = run.guardRuntime({
    executeTurn: (input, options) => http.executeTurn(input, options),
    executeTool: (name, input, context) => (name === "shop:refund" ? refund(input["order"], context.idempotency_key, context.signal) : { order: input["order"], state: "paid" }),
  });
  try {
    return say(await runGovernedAgentLoop({
      runtime, model_profile: "main", signal, ...run.hooks,
      messages: resume ? run.resumeMessages() : [{ role: "user", content: question }],
      tools: [{ name: "shop:refund", input_schema: { type: "object" } }, { name: "shop:lookup", input_schema: { type: "object" } }],
    }));
  } catch (error) {
    if (TurnkeepError.is(error, "CHECKPOINT_NOT_SAVED")) return `someone else is on it: ${error.checkpoint?.revision ?? "?"}`;
    throw error;
  }
}

function say(result: AgentTaskResult): string {
  switch (result.outcome) {
    case "completed": return result.final_text;
    case "incomplete": case "refused": return `no answer: ${result.finish_reason.raw}`;
    case "budget_exhausted": return result.details.reason === "cost_unknown" ? `the price of a call is unknown (${result.limit})` : `stopped at ${result.limit} = ${result.details.max}`;
    case "cancelled": return "cancelled";
    case "client_disconnect": return `the ${result.details.side} went away`;
    case "failed": return `${result.error.code} (${result.error.rule})`;
    default: return result satisfies never;
  }
}
