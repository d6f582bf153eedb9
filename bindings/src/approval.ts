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

/** Reads `agent_runtime.approval_classes` (types/approval.d.ts). */
export function createApprovalClassRegistry(classes: ApprovalClasses | undefined, policies?: readonly ApprovalPolicy[]): ApprovalClassRegistry {
  const config = readAgentRuntimeConfig({ models: {}, approval_classes: classes ?? {}, ...(policies === undefined ? {} : { policies }) });
  const known = new Map<string, ReadClass>();
  for (const [name, terms] of Object.entries(config.approval_classes ?? {})) {
    const given = Object.entries(terms).filter(([term, value]) => term !== "title" && value !== undefined && value !== null);
    known.set(name, Object.freeze({ ...DEFAULTS, ...Object.fromEntries(given) }));
  }
  return Object.freeze({
    get: (approval_class: string) => known.get(approval_class),
    names: () => [...known.keys()],
  });
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
