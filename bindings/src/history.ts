/** The text a history was read from: the values that JSON.parse makes of it have lost the digits of long integers (N-04). */
import type { Message } from "../types/index.js";
import { encode, frozen } from "./json.js";

const texts = new WeakMap<readonly Message[], string>();

/** A history of the core's, frozen, with its text kept beside it. */
export function historyOf(json: string): readonly Message[] {
  const messages = frozen(JSON.parse(json) as readonly Message[]);
  texts.set(messages, json);
  return messages;
}

/** The text of a history. @throws INVALID_INPUT when a host's messages are not JSON */
export function messagesJson(messages: readonly Message[]): string {
  return texts.get(messages) ?? encode(messages, "messages");
}
