// Streams that must not become a tool call.
import { play } from "./support.mjs";
import { LOOKUP, POLICY, REFUND } from "./shop.mjs";

const AFTER = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one more thing\"}}]}\n\n";
const STREAMS = [
  ["data after the terminal marker", { calls: [REFUND], transport: { after_terminal: AFTER } }, "POST_TERMINAL_DATA", "S-10"],
  ["a clean end before the finish reason, with a call that looks complete", { calls: [REFUND], transport: { cut: "before_finish" } }, "STREAM_TRUNCATED", "S-20"],
  ["two calls with one id", { calls: [LOOKUP, { ...POLICY, id: LOOKUP.id }] }, "CALL_ID_DUPLICATE", "P-02"],
  ["arguments that are cut in the middle", { calls: [{ id: "call_1", name: "shop:refund", input_json: '{"order":7,"amount' }] }, "TOOL_ARGUMENTS_INVALID", "P-16"],
];

export async function hostile(sheet, protocol) {
  for (const [what, turn, code, rule] of STREAMS) {
    sheet.title(`${protocol}: ${what}`);
    const { result, ledger, results } = await play(sheet, protocol, [turn], { limits: { max_cost_usd: 0.05 }, quiet: true });
    sheet.line("outcome", `${result.outcome}: ${result.error?.code} (${result.error?.rule})`);
    sheet.expect(`refused with ${code} under rule ${rule}`, result.outcome === "failed" && result.error.code === code && result.error.rule === rule);
    sheet.expect("no tool ran, and nothing of the turn entered the history", ledger.length === 0 && results.size === 0);
  }
}
