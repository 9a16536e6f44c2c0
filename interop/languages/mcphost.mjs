// Plays an MCP host with the official SDK: mcphost.mjs MODE COMMAND ARG... The last line of stdout is what it saw, as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, command, ...args] = process.argv.slice(2);
const asked = [];
const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  asked.push(request.params);
  return { action: "accept", content: { state: "Illinois" } };
});

async function called(name, toolArguments) {
  const progress = [];
  const result = await client.callTool({ name, arguments: toolArguments }, undefined, { onprogress: (p) => progress.push(p.message) });
  return { result, progress };
}

const transport = new StdioClientTransport({ command, args, env: process.env });
await client.connect(transport);
const seen = { version: transport._protocolVersion ?? "", tools: (await client.listTools()).tools };
seen.forecast = await called("get_forecast", { city: "Rome", days: 2 });
seen.question = await called("get_forecast", { city: "Springfield" });
seen.asked = asked;
seen.invalid = await called("get_forecast", { city: "" });
seen.failed = await called("say", { text: "fail" });
seen.stream = await called("say", { text: "stream" });
seen.files = await called("say", { text: "files" });
const stop = new AbortController();
setTimeout(() => stop.abort(new Error("enough")), 500);
try {
  await client.callTool({ name: "say", arguments: { text: "wait" } }, undefined, { signal: stop.signal });
} catch (error) {
  seen.canceled = String(error);
}
seen.after = await called("say", { text: "hello" });
await client.close();
console.log(JSON.stringify(seen));
