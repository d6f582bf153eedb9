import OpenAI from "openai";
import { guardFetch, TurnkeepError } from "turnkeep";

const client = new OpenAI({ fetch: guardFetch(fetch) });

const runner = client.chat.completions.runTools({
  model: "some-model",
  stream: true,
  messages: [{ role: "user", content: "Where is order 7?" }],
  tools: [{
    type: "function",
    function: {
      name: "lookup",
      description: "Look an order up by its number",
      parameters: { type: "object", properties: { order: { type: "integer" } } },
      parse: JSON.parse,
      function: ({ order }) => ({ order, state: "paid" }),
    },
  }],
});
try {
  console.log(await runner.finalContent());
} catch (error) {
  const refused = TurnkeepError.find(error);
  if (refused === undefined) throw error;
  console.error(refused.message);
}
