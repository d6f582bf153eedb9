// The contract's own snippet, taken from docs/task-contract.md and run as it stands (K-01).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import * as turnkeep from "turnkeep";
import { call, configFor, PROTOCOLS, serve, TOOLS } from "./lib/shop.mjs";

const AsyncFunction = (async () => undefined).constructor;

async function snippet() {
  const page = await readFile(new URL("../../docs/task-contract.md", import.meta.url), "utf8");
  const [, code] = /```js\n([^]*?)```/.exec(page);
  return code;
}

for (const protocol of PROTOCOLS) {
  test(`${protocol}: the snippet of docs/task-contract.md runs as it stands (K-01)`, async (t) => {
    const server = await serve(t, [{ calls: [call("a", "shop:lookup_order", { order: 7 })] }, { text: "It is paid." }]);
    const config = turnkeep.readAgentRuntimeConfig({ ...configFor(protocol, server.url), limits: { max_steps: 100, max_cost_usd: 5, max_duration_s: 3600 }, approval_classes: { money: {} } });
    const saved = [];
    const ran = [];
    const { executeTurn } = turnkeep.createFetchRuntime({ config, apiKey: "" });
    const scope = {
      ...turnkeep, config, task_id: "t-1", tenant_subject: "acme", actor_ref: "user:7", profile: "main",
      registry: turnkeep.createApprovalClassRegistry(config.approval_classes),
      manifestDeclaration: (name) => (name === "shop:refund" ? { approval_class: "money", side_effecting: true } : { side_effecting: false }),
      store: { save: async (checkpoint) => { saved.push(checkpoint); return { etag: String(checkpoint.revision) }; } },
      base: { model_profile: "main", messages: [{ role: "user", content: "Order 7?" }], tools: TOOLS },
      runtime: { executeTurn, executeTool: (name, input) => { ran.push([name, input]); return { state: "paid" }; } },
    };
    const code = await snippet();
    for (const name of ["createAgentTaskRun", "createRequestUserGate", "createApprovalClassRegistry", "usageCostUsd", "readTrustedModelCostProfile", "runGovernedAgentLoop", "guardRuntime", "onCheckpoint", "packLimits"]) assert.ok(code.includes(name), name);
    const run = await new AsyncFunction(...Object.keys(scope), `${code}\nreturn run;`)(...Object.values(scope));
    assert.deepEqual(ran, [["shop:lookup_order", { order: 7 }]]);
    assert.equal(run.steps().length, 3);
    assert.equal(run.spend().cost_usd, 0.0012);
    assert.deepEqual(saved.map(({ revision }) => revision), [1, 2]);
    run[Symbol.dispose]();
  });
}
