// @ts-check
// The question of a task that waits for its caller, and the answer to it.
import { call, forms, known, randomID } from "./agent.js";
import { composer } from "./composer.js";
import { el, fill, form, labelled } from "./dom.js";
import { headersOf } from "./panels.js";
import { complain, errorBox, refuse, violationsOf } from "./rejection.js";
import { ended } from "./wait.js";
import { words } from "./words.js";

const w = words.call;

/**
 * @typedef {{text: string, schema?: any, authorization?: {scheme?: string, scopes?: string[], url?: string, expires?: string}}} Question
 */

/**
 * What a task asks: the last message that an agent said with its state.
 * @param {import("./task.js").Task} t
 * @param {AbortSignal} signal
 * @returns {Promise<Question>}
 */
async function questionOf(t, signal) {
  const { extension } = await known(t.agent);
  for (const id of t.calls.toReversed()) {
    const said = await forms(id, 0, signal).catch(() => undefined);
    for (const f of [...(said?.events ?? []).toReversed(), ...(said ? [said.response] : [])]) {
      const status = f.form?.statusUpdate?.status ?? f.form?.task?.status ?? f.form?.status;
      const message = status?.message;
      if (!message || !/INPUT_REQUIRED|AUTH_REQUIRED/.test(status.state)) continue;
      const parts = message.parts ?? [];
      const data = parts.map((/** @type {any} */ p) => p.data).find((/** @type {any} */ d) => typeof d === "object" && d !== null);
      const schema = [data?.input, data?.schema].find((s) => typeof s === "object" && s !== null);
      return {
        text: parts.map((/** @type {any} */ p) => p.text ?? "").filter(Boolean).join("\n"), schema,
        authorization: extension ? message.metadata?.[extension]?.authorization : undefined,
      };
    }
  }
  return { text: "" };
}

/**
 * Shows a question, with what answers it.
 * @param {HTMLElement} root
 * @param {import("./task.js").Task} t
 * @param {{binding: string, version: string}} way
 * @param {AbortSignal} signal
 */
export async function answerBox(root, t, way, signal) {
  /** @type {Question} */
  const q = await questionOf(t, signal).catch(() => ({ text: "" }));
  const asks = JSON.stringify([t.id, t.state, q]);
  if (signal.aborted || (root.firstChild && root.dataset.asks === asks)) return; // an answer that was not taken stays
  root.dataset.asks = asks;
  const wantsAuth = t.state === "auth-required";
  const write = composer({ schema: q.schema, name: w.answerName, optional: wantsAuth });
  const secret = /** @type {HTMLInputElement} */ (el("input", { type: "password", autocomplete: "off", placeholder: "Bearer …" }));
  const bad = el("div");
  const send = async (anyway = false) => {
    fill(bad);
    try {
      const mistakes = write.check();
      if (!anyway) refuse(mistakes);
      const parts = await write.parts();
      if (parts.length === 0 && wantsAuth) parts.push({ text: w.granted });
      const header = { ...headersOf(t.agent), ...(secret.value ? { Authorization: [secret.value] } : {}) };
      const id = await call(t.agent, {
        ...way, operation: "SendStreamingMessage", header,
        request: { message: { messageId: randomID(), role: "ROLE_USER", taskId: t.id, contextId: t.context || undefined, parts } },
      });
      await ended(id, signal);
      const { response, events } = await forms(id, 0, signal);
      const said = [response, ...events].find((f) => f.error !== undefined);
      if (!said) return;
      fill(bad, errorBox(said, id));
      if (box.contains(document.activeElement)) write.reject(violationsOf(said.error));
    } catch (err) {
      if (!signal.aborted) complain(bad, /** @type {Error} */ (err), () => void send(true));
    }
  };
  const box = form(send, { class: "question" },
    el("h3", {}, wantsAuth ? w.needsAuthorization : w.asks), el("p", { class: "said" }, q.text || (wantsAuth ? w.grant : w.noWords)),
    q.authorization ? authorization(q.authorization) : null,
    write.root, wantsAuth ? labelled(w.authorizationHeader, secret) : null, bad, el("button", { class: "main" }, wantsAuth ? w.continue : w.answerName));
  fill(root, box);
}

/** @param {NonNullable<Question["authorization"]>} a */
function authorization(a) {
  const at = typeof a.url === "string" && URL.canParse(a.url) ? new URL(a.url) : undefined;
  const isWeb = at?.protocol === "https:" || at?.protocol === "http:";
  return el("dl", {},
    ...(a.scheme ? [el("dt", {}, w.scheme), el("dd", {}, String(a.scheme))] : []),
    ...(Array.isArray(a.scopes) ? [el("dt", {}, w.scopes), el("dd", {}, a.scopes.join(" "))] : []),
    ...(a.expires ? [el("dt", {}, w.until), el("dd", {}, String(a.expires))] : []),
    ...(a.url ? [el("dt", {}, w.where), el("dd", {}, el("span", { class: "mono" }, String(a.url)), " ",
      isWeb ? el("a", { href: at?.href, target: "_blank", rel: "noopener noreferrer" }, w.open) : null)] : []));
}
