import { createOpenAI } from "@ai-sdk/openai";
import { jsonSchema, stepCountIs, streamText } from "ai";
import { guardFetch, TurnkeepError } from "turnkeep";

// `openai.chat(...)`: the provider's default speaks the Responses API, which the guard refuses by name.
const openai = createOpenAI({ fetch: guardFetch(fetch) });

const result = streamText({
  model: openai.chat("some-model"),
  prompt: "Where is order 7?",
  stopWhen: stepCountIs(5),
  tools: {
    lookup: {
      description: "Look an order up by its number",
      inputSchema: jsonSchema({ type: "object", properties: { order: { type: "integer" } } }),
      execute: ({ order }) => ({ order, state: "paid" }),
    },
  },
});
try {
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") process.stdout.write(part.text);
  }
} catch (error) {
  const refused = TurnkeepError.find(error);
  if (refused === undefined) throw error;
  console.error(refused.message);
}
