import type { Digest, Timestamp } from "./base.js";
import type { ApprovalClassConfig, ApprovalClasses, ApprovalPolicy } from "./config.js";
import type { ErrorRecord } from "./errors.js";
import type { RunRef } from "./task.js";

/** The classes a host configured, with their defaults filled in (C-01). */
export interface ApprovalClassRegistry {
  get(approval_class: string): Readonly<Required<Omit<ApprovalClassConfig, "title">>> | undefined;
  /** In the order of the configuration. */
  names(): readonly string[];
}
/**
 * Reads `agent_runtime.approval_classes`, and narrower policies over them. A run with this registry refuses each call that a policy with a
 * verdict matches: `POLICY_DENIED` for `deny`, and, as nobody can be asked in this release, `APPROVAL_REQUIRED` for `ask` (C-02).
 *
 * @throws CONFIGURATION_ERROR
 * @example
 * const registry = createApprovalClassRegistry({ money: { expires_in_s: 600, title: "Moves money" } });
 * registry.get("money")?.auto_approve_allowed; // false
 */
export function createApprovalClassRegistry(classes: ApprovalClasses | undefined, policies?: readonly ApprovalPolicy[]): ApprovalClassRegistry;

/** What an approval is bound to (G-01..G-06). */
export interface ApprovalBinding {
  readonly task_id: string;
  readonly step_id: string;
  readonly action_hash: Digest;
  readonly tenant_subject: string;
  readonly actor_ref: string;
  readonly expires_at: Timestamp;
}
interface ApprovalBase extends ApprovalBinding {
  readonly approval_id: string;
  readonly approval_class: string;
  readonly tool: string;
  readonly call_id: string;
  readonly definition_digest: Digest | null;
  /** Canonical input: what the person sees is what runs (G-18). */
  readonly input_json: string;
  readonly warnings: readonly { readonly json_path: string; readonly kind: "invisible" | "bidi" | "confusable" }[];
  readonly raised_at: Timestamp;
}
export type PendingApproval = ApprovalBase & { readonly status: "pending" };
export type DecidedApproval = ApprovalBase & {
  readonly status: "approved" | "denied" | "consumed" | "void";
  readonly decided_at: Timestamp;
  readonly decided_by: string | null;
  readonly note: string | null;
};
export type Approval = PendingApproval | DecidedApproval | (ApprovalBase & { readonly status: "expired" });

export type ApprovalRef = { readonly approval_id: string } | { readonly task_id: string; readonly step_id: string };
/** The binding fields are sent back by whoever decides; each is compared (G-08). */
export type Resolution = ApprovalRef & {
  readonly action_hash: Digest | string;
  readonly tenant_subject: string;
  readonly decision: "approve" | "deny";
  readonly decided_by?: string | undefined;
  readonly note?: string | undefined;
};
export type ResolveRefusal =
  | "APPROVAL_NOT_FOUND"
  | "TENANT_SUBJECT_MISMATCH"
  | "ACTION_HASH_MISMATCH"
  | "ALREADY_RESOLVED"
  | "APPROVAL_EXPIRED"
  | "APPROVER_NOT_ALLOWED";
export type ResolveResult =
  | { readonly ok: true; readonly approval: DecidedApproval }
  | { readonly ok: false; readonly error: ErrorRecord<ResolveRefusal>; /** Absent for another tenant. */ readonly approval?: Approval };

export interface RequestUserGateOptions {
  readonly registry: ApprovalClassRegistry;
}
/**
 * Where decisions enter. This release raises no approval: a tool that declares a class is refused `APPROVAL_REQUIRED`, so there is
 * nothing to decide. `resolve` answers `APPROVAL_NOT_FOUND`, `pending` is empty.
 */
export interface RequestUserGate {
  /** A refusal is a value and consumes nothing (K-04). */
  resolve(resolution: Resolution): Promise<ResolveResult>;
  /** Pending only, oldest first. */
  pending(run: RunRef): Promise<readonly PendingApproval[]>;
  get(approval_id: string, tenant_subject: string): Promise<Approval | undefined>;
}
/**
 * Makes a gate.
 *
 * @example
 * const gate = createRequestUserGate({ registry: createApprovalClassRegistry(config.approval_classes) });
 */
export function createRequestUserGate(options: RequestUserGateOptions): RequestUserGate;
