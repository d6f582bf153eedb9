// The shop of the demo: three tools, what they declare, and a ledger of what really ran.
import { tool } from "turnkeep";

export const PRICES = { input_usd_per_mtok: 3, output_usd_per_mtok: 15, source: "made up for the demo" };
export const QUESTION = "Order 7 was charged twice. Please check it, and refund one charge if the policy allows it.";
export const SYSTEM = "You are a support agent of a small shop. Use the tools; never guess what an order says.";

const order = (more = {}) => ({ type: "object", properties: { order: { type: "integer" }, ...more }, required: ["order"], additionalProperties: false });

/** Fresh tools with a ledger of their own. */
export function shop() {
  const ledger = [];
  const note = (name, input) => ledger.push({ name, input });
  return {
    ledger,
    tools: {
      "shop:lookup_order": tool({
        description: "Look an order up", side_effecting: false, input: order(),
        execute: (input) => { note("shop:lookup_order", input); return { order: input.order, charges_usd: [30, 30], state: "shipped" }; },
      }),
      "shop:read_policy": tool({
        description: "Read a page of the shop's policy: refunds, shipping", side_effecting: false,
        input: { type: "object", properties: { page: { type: "string" } }, required: ["page"], additionalProperties: false },
        execute: (input) => { note("shop:read_policy", input); return { page: input.page, text: "A double charge is refunded in full, once." }; },
      }),
      "shop:refund": tool({
        description: "Refund an amount of an order", side_effecting: true, input: order({ amount_usd: { type: "number" } }),
        execute: (input, { idempotency_key }) => { note("shop:refund", input); return { refund_id: `r-${idempotency_key.slice(7, 15)}`, amount_usd: input.amount_usd }; },
      }),
    },
  };
}

const call = (id, name, input) => ({ id, name: `shop:${name}`, input });
export const LOOKUP = call("call_1", "lookup_order", { order: 7 });
export const POLICY = call("call_2", "read_policy", { page: "refunds" });
export const REFUND = call("call_3", "refund", { order: 7, amount_usd: 30 });
