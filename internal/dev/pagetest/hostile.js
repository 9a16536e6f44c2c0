// @ts-check
// An agent of somebody else, which says payloads wherever it may say something.
import { createServer } from "node:http";

/**
 * @param {string[]} payloads
 * @param {number} [large] how many bytes the event has that answers "large"
 */
export async function hostile(payloads, large = 16 << 20) {
  let origin = "";
  /** @type {string[]} the Referer headers that came from elsewhere */
  const referers = [];
  const card = () => ({
    name: payloads[0], description: payloads.join("\n"), version: payloads[1], documentationUrl: "javascript:top.pwned=1", iconUrl: "javascript:top.pwned=1", provider: { organization: payloads[2], url: "javascript:top.pwned=1" },
    capabilities: { streaming: true, extensions: [{ uri: "https://github.com/a2agen/a2agen/extensions/skills/v1", description: payloads[3], params: { skills: Object.fromEntries(payloads.map((p, i) => ["s" + i, { input: schema(p) }])) } }] },
    supportedInterfaces: [{ url: origin + "/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    defaultInputModes: ["application/json", payloads[4]], defaultOutputModes: ["application/json"],
    securitySchemes: Object.fromEntries(payloads.slice(0, 20).map((p, i) => ["k" + i + p.replaceAll("\u0000", ""), { apiKeySecurityScheme: { location: "header", name: "X-" + i, description: p } }])),
    skills: payloads.map((p, i) => ({ id: "s" + i, name: p, description: p, tags: [p], examples: [p], inputModes: [p], outputModes: [p] })),
  });
  const server = createServer((req, res) => {
    if (req.headers.referer && !req.headers.referer.startsWith(origin)) referers.push(req.headers.referer);
    let body = "";
    req.on("data", (b) => { body += b; }).on("end", () => {
      if (req.method === "GET") {
        res.writeHead(200, { "Content-Type": req.url?.endsWith(".json") ? "application/json" : "text/html" });
        res.end(req.url?.endsWith(".json") ? JSON.stringify(card()) : "<!doctype html><title>elsewhere</title>");
        return;
      }
      const { id, params } = JSON.parse(body);
      const said = JSON.stringify(params);
      /** @param {unknown} result */
      const event = (result) => res.write("data: " + JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n\n");
      res.writeHead(200, { "Content-Type": "text/event-stream", "X-Said": encodeURIComponent(payloads[5]) });
      const task = said.includes("large") ? "large" : "<img src=x onerror=top.pwned=1>";
      const context = payloads[6];
      event({ task: { id: task, contextId: context, status: { state: "TASK_STATE_WORKING", message: { messageId: payloads[7], role: "ROLE_AGENT", parts: [{ text: payloads[8] }] } } } });
      if (said.includes("large")) {
        event({ artifactUpdate: { taskId: task, contextId: context, artifact: { artifactId: "a", parts: [{ text: "x".repeat(large) }] } } });
      } else {
        payloads.forEach((p, i) => event({
          artifactUpdate: {
            taskId: task, contextId: context, lastChunk: true,
            artifact: { artifactId: "a" + i + p, name: p, description: p, parts: [{ text: p, filename: p, mediaType: p }, { url: p, filename: p }, { data: { [p]: p } }, { raw: "PHNjcmlwdD4=", filename: p, mediaType: "text/html" }, { raw: svg(p), filename: p, mediaType: "image/svg+xml" },
              { text: p, mediaType: "text/markdown" }, { text: `# ${p}\n\n[${p}](${p}) [x](<${p}>) ![${p}](${p}) <${p}> \`${p}\` **${p}**\n\n- ${p}\n\n> ${p}\n\n|${p}|b|\n|-|-|\n|${p}|c|\n\n\`\`\`${p}\n${p}\n`, mediaType: "text/markdown" }] },
          },
        }));
      }
      const question = { prompt: payloads[9], schema: schema(payloads[10]) };
      event({ statusUpdate: { taskId: task, contextId: context, status: { state: "TASK_STATE_INPUT_REQUIRED", message: { messageId: "q", role: "ROLE_AGENT", parts: [{ text: payloads[11] }, { data: question, mediaType: "application/json" }] } } } });
      res.end();
    });
  });
  await new Promise((f) => server.listen(0, "127.0.0.1", () => f(undefined)));
  origin = "http://127.0.0.1:" + /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  return { origin, referers, end: () => new Promise((f) => { server.closeAllConnections(); server.close(f); }) };
}

/** An image that is a document. @param {string} p */
const svg = (p) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><script>top.pwned=1</script><image href="https://evil.test/i"/><foreignObject>${p}</foreignObject></svg>`).toString("base64");

/** A schema with a payload wherever it has a text. @param {string} p */
function schema(p) {
  return {
    type: "object", title: p, description: p, required: [p],
    properties: { [p]: { type: "string", title: p, description: p, default: p, examples: [p], pattern: "(" }, choice: { enum: [p, "b"], description: p }, one: { oneOf: [{ title: p, type: "object", properties: { [p]: { const: p } } }, { $ref: "#/$defs/" + encodeURIComponent(p) }] }, list: { type: "array", items: { type: "string", description: p } } },
    $defs: { [p]: { type: "string", title: p } },
  };
}
