import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { guardFetch, TurnkeepError } from "turnkeep";

const client = new Anthropic({ fetch: guardFetch(fetch) });

const lookup = betaTool({
  name: "lookup",
  description: "Look an order up by its number",
  inputSchema: { type: "object", properties: { order: { type: "integer" } } },
  run: ({ order }) => JSON.stringify({ order, state: "paid" }),
});
try {
  const messages = [{ role: "user", content: "Where is order 7?" }];
  const runner = client.beta.messages.toolRunner({ model: "some-model", max_tokens: 1000, messages, tools: [lookup], stream: true });
  let last;
  for await (const stream of runner) last = await stream.finalMessage();
  console.log(last.content.map((block) => block.text ?? "").join(""));
} catch (error) {
  const refused = TurnkeepError.find(error);
  if (refused === undefined) throw error;
  console.error(refused.message);
}
