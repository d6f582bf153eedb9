// The contract's own snippet, character for character between the marks, against the published types (K-01).
import {
  createAgentTaskRun, createApprovalClassRegistry, createRequestUserGate, readTrustedModelCostProfile, runGovernedAgentLoop, usageCostUsd,
  type AgentRuntime, type AgentRuntimeConfig, type AgentTaskCheckpoint, type ApprovalClassRegistry, type Message, type ToolDefinition,
} from "turnkeep";

declare const task_id: string, tenant_subject: string, actor_ref: string, profile: string;
declare const config: AgentRuntimeConfig, registry: ApprovalClassRegistry, runtime: AgentRuntime;
declare const store: { save(checkpoint: AgentTaskCheckpoint): Promise<{ etag: string }> };
declare function manifestDeclaration(name: string): { approval_class?: string; side_effecting?: boolean };
declare const base: { messages: Message[]; tools: ToolDefinition[]; model_profile: string };

export async function seed() {
const run = createAgentTaskRun({
  task_id,
  tenant_subject,
  actor_ref,
  limits: { max_steps: 40, max_cost_usd: 2, max_duration_s: 600 },
  packLimits: config.limits, // ceilings from agent_runtime.limits
  gate: createRequestUserGate({ registry }),
  registry: createApprovalClassRegistry(config.approval_classes),
  toolPolicy: (name) => manifestDeclaration(name), // { approval_class?, side_effecting? }
  costOfUsage: (usage) => usageCostUsd(usage, readTrustedModelCostProfile(config, profile)),
  onCheckpoint: (checkpoint) => store.save(checkpoint),
});
await runGovernedAgentLoop({ ...base, runtime: run.guardRuntime(runtime), ...run.hooks });
}
