// Prints what happens, in columns, and counts what was expected of it.
export class Sheet {
  #held = 0;
  #broken = 0;
  #midLine = false;

  title(text) {
    this.#flush();
    console.log(`\n== ${text} ${"=".repeat(Math.max(2, 92 - text.length))}`);
  }

  /** A line with a word in front. */
  line(word, text = "") {
    this.#flush();
    console.log(`  ${word.padEnd(10)} ${text}`);
  }

  /** Text as it streams. */
  stream(text) {
    if (!this.#midLine) process.stdout.write(`  ${"model".padEnd(10)} `);
    this.#midLine = true;
    process.stdout.write(text.replaceAll("\n", `\n  ${" ".repeat(10)} `));
  }

  expect(what, held) {
    this.#flush();
    if (held) this.#held += 1;
    else this.#broken += 1;
    console.log(`  ${held ? "ok" : "NOT SO"}${" ".repeat(held ? 9 : 5)}${what}`);
  }

  /** The last line, and the exit code. */
  close() {
    this.#flush();
    const all = this.#held + this.#broken;
    if (all === 0) return 0;
    console.log(`\n${this.#broken === 0 ? "all good" : "FAILED"}: ${this.#held} of ${all} expectations held`);
    return this.#broken === 0 ? 0 : 1;
  }

  #flush() {
    if (this.#midLine) process.stdout.write("\n");
    this.#midLine = false;
  }
}

/** US dollars, with enough digits that the rows add up to the total. */
export function usd(amount) {
  return amount === null ? "unknown" : `$${amount.toFixed(6)}`;
}

/** One line for each thing that happens in a run. */
export function print(sheet, event, cap) {
  switch (event.type) {
    case "text_delta":
      return sheet.stream(event.text);
    case "tool_started":
      return sheet.line("call", `${event.call.name} ${JSON.stringify(event.call.input)}`);
    case "tool_ended":
      return sheet.line(event.result.ok ? "result" : "refused", `${event.name}  ${event.result.ok ? JSON.stringify(event.result.output) : `${event.result.code}: ${event.result.message}`}`);
    case "turn_rejected":
      return sheet.line("rejected", event.error.message);
    case "step_ended":
      return sheet.line("step", `${event.step.step_id.padEnd(8)} ${event.step.kind.padEnd(11)} ${event.step.status.padEnd(10)} cost ${usd(event.step.cost_usd)}`);
    case "budget":
      return sheet.line("spend", `${usd(event.spend.cost_usd)}${cap === null ? "" : ` of ${usd(cap)}`}, ${event.spend.steps} steps, ${event.spend.tool_calls} calls admitted`);
    default:
      return undefined;
  }
}

/** Paired results of a checkpoint's history, by call id. */
export function paired(checkpoint) {
  const tools = JSON.parse(checkpoint.history_json).filter((entry) => entry.role === "tool");
  return new Map(tools.map((entry) => [entry.tool_call_id, JSON.parse(entry.content)]));
}
