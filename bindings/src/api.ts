/** What every entry exports. Entries differ only in where the module comes from. */
export { runAgent } from "./agent.js";
export { createApprovalClassRegistry, createRequestUserGate } from "./approval.js";
export { FREE, quirkProfiles, readAgentRuntimeConfig, readTrustedModelCostProfile, usageCostUsd } from "./config.js";
export { EffectNotStarted, TurnkeepError } from "./errors.js";
export { guardFetch, guardStream } from "./guard.js";
export { runGovernedAgentLoop } from "./loop.js";
export { createFetchRuntime } from "./runtime.js";
export { AgentTaskStepRecordSchema } from "./step.js";
export { createAgentTaskRun } from "./task.js";
export { tool } from "./tool.js";
export { VERSION } from "./version.js";
