// Asks the endpoint with OpenAI's client for Node; in and out as with_openai.py says. CLIENT_MODULES is its node_modules.

import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const require = createRequire(process.env.CLIENT_MODULES + "/");
const OpenAI = require("openai").default;

const ANIMAL = {
  type: "object",
  properties: { name: { type: "string" }, legs: { type: "integer" } },
  required: ["name", "legs"],
  additionalProperties: false,
};

const asNumbers = (usage) => (usage ? [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens] : null);

async function streamed(client, model, messages) {
  const stream = await client.chat.completions.create({
    model, messages, stream: true, stream_options: { include_usage: true },
  });
  const pieces = [];
  const reasons = [];
  let usage = null;
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    for (const choice of chunk.choices) {
      if (choice.delta.content) pieces.push(choice.delta.content);
      if (choice.finish_reason) reasons.push(choice.finish_reason);
    }
  }
  return {
    text: pieces.join(""),
    pieces: pieces.length,
    finish_reason: reasons.length === 1 ? reasons[0] : reasons,
    usage: asNumbers(usage),
  };
}

async function ask(client, { mode, model, prompt }) {
  const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: prompt }];
  if (mode === "models") {
    const models = [];
    for await (const found of client.models.list()) models.push(found.id);
    return { models, one: (await client.models.retrieve(model)).id };
  }
  if (mode === "stream") return streamed(client, model, messages);
  if (mode === "parse") {
    const format = { type: "json_schema", json_schema: { name: "Animal", strict: true, schema: ANIMAL } };
    const completion = await client.chat.completions.create({ model, messages, response_format: format });
    return { parsed: JSON.parse(completion.choices[0].message.content) };
  }
  const completion = await client.chat.completions.create({ model, messages });
  const choice = completion.choices[0];
  return { text: choice.message.content, finish_reason: choice.finish_reason, usage: asNumbers(completion.usage) };
}

async function outcomeOf(request) {
  try {
    return await ask(new OpenAI(), request);
  } catch (error) {
    const { code = null, message } = error;
    const status = error instanceof OpenAI.APIError ? error.status : undefined;
    return { error: status === undefined ? { kind: error.constructor.name, code, message } : { status, code, message } };
  }
}

const outcomes = [];
for (const request of JSON.parse(await text(process.stdin))) outcomes.push(await outcomeOf(request));
console.log(JSON.stringify(outcomes));
