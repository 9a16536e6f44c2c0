// @ts-check
// The webhook of the page, and an agent that signs what it sends.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { browser, dev, goTo, open } from "./harness.js";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** An agent that has nothing but a card and the key that it signs with. */
const agent = createServer((req, resp) => {
  const url = "http://" + req.headers.host;
  const card = { name: "Signer", description: "", version: "1", skills: [], capabilities: {}, defaultInputModes: [], defaultOutputModes: [], supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] };
  const keys = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256", use: "sig" }] };
  const said = { "/.well-known/agent-card.json": card, "/.well-known/jwks.json": keys }[req.url ?? ""];
  resp.writeHead(said ? 200 : 404, { "Content-Type": "application/json" }).end(JSON.stringify(said ?? {}));
});

/**
 * The signature of a notification, as agents of a2agen make it.
 * @param {string} to the URL of the webhook
 * @param {string} body
 */
function signature(to, body) {
  const part = (/** @type {unknown} */ v) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const text = part({ alg: "ES256", kid: "k", typ: "JWT" }) + "." + part({
    iss: "https://signer.example.com", aud: to, iat: now, exp: now + 300, jti: "n1", taskId: "t", config: "c", sequence: "1",
    request_body_sha256: createHash("sha256").update(body).digest("hex"),
  });
  return text + "." + sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
}

/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent.listen(0, "127.0.0.1");
  await once(agent, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (agent.address());
  [d, b] = await Promise.all([dev(["--to", "http://127.0.0.1:" + port]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  agent.close();
});

test("a delivery says who signed it, or why its signature is not good", async () => {
  const { page, close } = await open(b, d);
  await goTo(page, "#/traffic/webhooks");
  const address = await page.locator("code").first().innerText();
  const body = JSON.stringify({ statusUpdate: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } });
  /** @param {string} sent */
  const deliver = (sent) => fetch(address, { method: "POST", body: sent, headers: { "X-A2A-Notification-Signature": signature(address, body), "X-A2A-Notification-Id": "n1" } });
  await deliver(body);
  await deliver(body.replace("COMPLETED", "FAILED"));
  await page.getByRole("option", { name: /#1.*signed/ }).click();
  await page.getByText(/signed by https:\/\/signer\.example\.com, with a key of the agent at http:\/\/127/).waitFor();
  await page.getByRole("option", { name: /#2.*bad signature/ }).click();
  await page.getByText(/the signature is not good \(it names https:\/\/signer\.example\.com\)/).waitFor();
  assert.doesNotMatch(await page.getByLabel("Headers").innerText(), /eyJ/);
  await close();
});
