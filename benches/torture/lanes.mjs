// Each lane is one SDK at its highest level: it asks once, and runs the tools that it believes were called.
import { readFileSync } from "node:fs";

const question = [{ role: "user", content: "Where is order 7?" }];
const schema = { type: "object", properties: {}, additionalProperties: true };
/** Version 6 of each has its own name, so that the examples import it as a program would. */
const packageOf = (name, major) => (major === 6 ? name : `${name}${major}`);
const versionOf = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8")).version;

const openai = (major) => {
  const base = { protocol: "chat", node22: major > 6, packages: { openai: versionOf(packageOf("openai", major)) } };
  const client = async ({ url, fetch }) => {
    const { default: OpenAI } = await import(packageOf("openai", major));
    return new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, fetch, maxRetries: 0 });
  };
  const shown = (names) => names.map((name) => ({ type: "function", function: { name, parameters: schema } }));
  return [
    { ...base, name: `openai ${major}, runTools`, async run(job) {
      const tools = shown(job.tools).map((tool) => ({ ...tool, function: { ...tool.function, parse: JSON.parse, function: job.execute } }));
      await (await client(job)).chat.completions.runTools({ model: "m", stream: true, messages: question, tools }, { maxChatCompletions: 3 }).done();
    } },
    { ...base, name: `openai ${major}, stream()`, async run(job) {
      const completion = await (await client(job)).chat.completions.stream({ model: "m", messages: question, tools: shown(job.tools) }).finalChatCompletion();
      for (const call of completion.choices[0].message.tool_calls ?? []) if (job.tools.includes(call.function.name)) job.execute(JSON.parse(call.function.arguments));
    } },
  ];
};

const anthropic = () => {
  const base = { protocol: "messages", node22: false, packages: { "@anthropic-ai/sdk": versionOf("@anthropic-ai/sdk") } };
  const client = async ({ url, fetch }) => {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    return new Anthropic({ apiKey: "none", baseURL: url, fetch, maxRetries: 0 });
  };
  const asked = { model: "m", max_tokens: 100, messages: question };
  return [
    { ...base, name: "@anthropic-ai/sdk, stream()", async run(job) {
      const tools = job.tools.map((name) => ({ name, input_schema: schema }));
      const message = await (await client(job)).messages.stream({ ...asked, tools }).finalMessage();
      for (const block of message.content) if (block.type === "tool_use" && job.tools.includes(block.name)) job.execute(block.input);
    } },
    { ...base, name: "@anthropic-ai/sdk, toolRunner", async run(job) {
      const { betaTool } = await import("@anthropic-ai/sdk/helpers/beta/json-schema");
      const tools = job.tools.map((name) => betaTool({ name, description: name, inputSchema: schema, run: (input) => job.execute(input) }));
      const runner = (await client(job)).beta.messages.toolRunner({ ...asked, tools, stream: true, max_iterations: 3 });
      for await (const stream of runner) await stream.finalMessage();
    } },
  ];
};

const ai = (major, protocol, name, makeModel) => ({
  name: `ai ${major}, ${name}`, protocol, node22: major > 6,
  packages: { ai: versionOf(packageOf("ai", major)), [`@ai-sdk/${name}`]: versionOf(packageOf(`@ai-sdk/${name}`, major)) },
  async run(job) {
    const { streamText, jsonSchema, stepCountIs } = await import(packageOf("ai", major));
    const tools = Object.fromEntries(job.tools.map((tool) => [tool, { description: tool, inputSchema: jsonSchema(schema), execute: (input) => job.execute(input) }]));
    const result = streamText({ model: makeModel(await import(packageOf(`@ai-sdk/${name}`, major)), job), prompt: "Where is order 7?", tools, stopWhen: stepCountIs(3), maxRetries: 0, onError: () => undefined });
    let failed;
    for await (const part of result.fullStream) if (part.type === "error") failed ??= { error: part.error };
    if (failed !== undefined) throw failed.error;
  },
});

export const LANES = [
  ...openai(6), ...openai(7),
  ...[5, 6, 7].flatMap((major) => [
    ai(major, "chat", "openai", ({ createOpenAI }, { url, fetch }) => createOpenAI({ apiKey: "none", baseURL: `${url}/v1`, fetch }).chat("m")),
    ai(major, "chat", "openai-compatible", ({ createOpenAICompatible }, { url, fetch }) => createOpenAICompatible({ name: "loopback", apiKey: "none", baseURL: `${url}/v1`, fetch })("m")),
  ]),
  ...anthropic(),
  ...[5, 6, 7].map((major) => ai(major, "messages", "anthropic", ({ createAnthropic }, { url, fetch }) => createAnthropic({ apiKey: "none", baseURL: `${url}/v1`, fetch })("m"))),
];
