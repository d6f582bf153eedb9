/**
 * Approval classes and the gate. The core checks classes (C-01) and, in this release, refuses each call that would have to be asked for
 * (APPROVAL_REQUIRED): no approval is ever raised, so the gate has nothing to decide and says so with the code of G-08.
 */
import type {
  ApprovalClasses, ApprovalClassRegistry, ApprovalPolicy, ErrorRecord, RequestUserGate, RequestUserGateOptions, ResolveRefusal,
} from "../types/index.js";
import { readAgentRuntimeConfig } from "./config.js";
import { raised, recordOf } from "./raise.js";

type ReadClass = NonNullable<ReturnType<ApprovalClassRegistry["get"]>>;
const DEFAULTS: ReadClass = { auto_approve_allowed: false, expires_in_s: 900, distinct_approver: false, default_for_side_effects: false };

/** The narrower rules that were given with a registry. */
const narrower = new WeakMap<ApprovalClassRegistry, readonly ApprovalPolicy[]>();

/** The strictest verdict of the policies that match a tool of a tenant, whatever its order (C-04). */
export function verdictOf(registry: ApprovalClassRegistry | undefined, tenant_subject: string, tool: string, approval_class: string | undefined): "ask" | "deny" | undefined {
  const policies = (registry === undefined ? undefined : narrower.get(registry)) ?? [];
  const fits = (wanted: string | undefined, actual: string | undefined): boolean => wanted === undefined || wanted === actual;
  const matching = policies.filter((policy) => fits(policy.tenant_subject, tenant_subject) && fits(policy.tool, tool) && fits(policy.approval_class, approval_class));
  return matching.some(({ verdict }) => verdict === "deny") ? "deny" : matching.find(({ verdict }) => verdict === "ask")?.verdict;
}

/** The class of side-effecting tools that declare none (C-04). */
export function defaultClass(registry: ApprovalClassRegistry | undefined): string | undefined {
  return registry?.names().find((name) => registry.get(name)?.default_for_side_effects === true);
}

/** Reads `agent_runtime.approval_classes` (types/approval.d.ts). */
export function createApprovalClassRegistry(classes: ApprovalClasses | undefined, policies?: readonly ApprovalPolicy[]): ApprovalClassRegistry {
  const config = readAgentRuntimeConfig({ models: {}, approval_classes: classes ?? {}, ...(policies === undefined ? {} : { policies }) });
  const known = new Map<string, ReadClass>();
  for (const [name, terms] of Object.entries(config.approval_classes ?? {})) {
    const given = Object.entries(terms).filter(([term, value]) => term !== "title" && value !== undefined && value !== null);
    known.set(name, Object.freeze({ ...DEFAULTS, ...Object.fromEntries(given) }));
  }
  const registry: ApprovalClassRegistry = Object.freeze({
    get: (approval_class: string) => known.get(approval_class),
    names: () => [...known.keys()],
  });
  narrower.set(registry, config.policies ?? []);
  return registry;
}

/** Makes a gate (types/approval.d.ts). */
export function createRequestUserGate(options: RequestUserGateOptions): RequestUserGate {
  if (typeof (options as Partial<RequestUserGateOptions> | undefined)?.registry?.names !== "function") throw raised("invalid_input", "registry");
  return Object.freeze({
    resolve: () => Promise.resolve({ ok: false as const, error: recordOf("approval_not_found") as ErrorRecord<ResolveRefusal> }),
    pending: () => Promise.resolve([]),
    get: () => Promise.resolve(undefined),
  });
}
