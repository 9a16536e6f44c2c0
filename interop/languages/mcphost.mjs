// Plays an MCP host with the official SDK: mcphost.mjs MODE URL, or MODE COMMAND ARG... MODE is "auto", which speaks the newest version, or
// "legacy". The last line of stdout is what it saw, as JSON.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const asked = [];
const client = new Client(
  { name: "host", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
);
client.setRequestHandler("elicitation/create", async (request) => {
  asked.push(request.params);
  return { action: "accept", content: { state: "Illinois" } };
});

async function called(name, toolArguments) {
  const progress = [];
  const result = await client.callTool({ name, arguments: toolArguments }, { onprogress: (p) => progress.push(p.message) });
  return { result, progress };
}

const overHTTP = command.startsWith("http");
await client.connect(overHTTP ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, env: process.env }));
const seen = { version: client.getNegotiatedProtocolVersion(), tools: (await client.listTools()).tools };
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
  await client.callTool({ name: "say", arguments: { text: "wait" } }, { signal: stop.signal });
} catch (error) {
  seen.canceled = String(error);
}
seen.after = await called("say", { text: "hello" });
await client.close();
console.log(JSON.stringify(seen));
