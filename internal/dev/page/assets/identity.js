// @ts-check
// The callers as whom the page calls: names with credentials, which the command keeps.
import { ask } from "./api.js";
import { announce, button, el, fill, form, labelled, select } from "./dom.js";
import { state } from "./state.js";
import { words } from "./words.js";

/** @typedef {{name: string, credential: string, place: string, user?: boolean, description?: string, problem?: string}} Scheme */
/** @typedef {{name: string, schemes: string[]}} Identity */
/** @typedef {{schemes: Scheme[], identities: Identity[], problem?: string}} Known */

const w = words.callers;

/** By agents: the name of the identity that calls are made as. @type {Map<number, string>} */
export const chosen = new Map();

/** @param {number} agent @returns {Promise<Known>} */
export function identities(agent) {
  return ask(`/api/agents/${agent}/identities`);
}

/** The caller as whom the page calls an agent; "" is anonymous. @param {number} agent */
export function callerFor(agent) {
  return chosen.get(agent) ?? "";
}

/** @param {number} agent @param {string} name */
export function callAs(agent, name) {
  chosen.set(agent, name);
  announce(w.now(name));
}

/** Headers that have a call made as somebody; "" is anonymous. @param {string} name @returns {Record<string, string[]>} */
export function headersAs(name) {
  return name ? { "A2agen-Dev-As": [encodeURIComponent(name)] } : {};
}

/** Headers of the page's calls of an agent. @param {number} agent */
export function headersFor(agent) {
  return headersAs(callerFor(agent));
}

/**
 * A select of callers.
 * @param {Known} k
 * @param {string} name
 * @param {(name: string) => void} change
 */
export function selectIdentity(k, name, change) {
  return select([["", w.anonymous], ...k.identities.map((i) => /** @type {[string, string]} */ ([i.name, `${i.name} (${i.schemes.join(", ")})`]))], name, change);
}

/** @type {import("./places.js").View} */
export const identitiesView = {
  id: "callers", title: w.title,
  show(root, _parts, signal) {
    const agent = state.chosen;
    const draw = async () => {
      try {
        const k = await identities(agent);
        if (signal.aborted) return;
        if (!k.identities.some((i) => i.name === chosen.get(agent))) chosen.delete(agent);
        fill(root, el("p", { class: "dim" }, w.about),
          k.problem ? el("p", { class: "bad" }, k.problem) : null,
          k.identities.length ? labelled(w.callAs, selectIdentity(k, callerFor(agent), (name) => callAs(agent, name))) : null,
          k.identities.length ? el("ul", { class: "plain" }, ...k.identities.map((i) => el("li", { class: "bar" }, el("strong", {}, i.name), el("span", { class: "dim" }, i.schemes.join(", ")),
            button(w.remove, () => void remove(i.name), { class: "small plain", "aria-label": w.removeOf(i.name) })))) : null,
          k.schemes.length ? makeForm(agent, k, draw) : el("p", { class: "empty" }, w.noSchemes));
      } catch (err) {
        if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
      }
    };
    /** @param {string} name */
    const remove = async (name) => {
      await ask(`/api/agents/${agent}/identities/${encodeURIComponent(name)}`, "DELETE");
      await draw();
    };
    void draw();
  },
};

/**
 * The form of a new caller.
 * @param {number} agent
 * @param {Known} k
 * @param {() => Promise<void>} made
 */
function makeForm(agent, k, made) {
  const name = /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off", required: true, maxlength: 60, placeholder: w.namePlaceholder }));
  const bad = el("p", { class: "bad", role: "alert" });
  /** @type {{scheme: string, user?: HTMLInputElement, secret: HTMLInputElement}[]} */
  const given = [];
  const fields = k.schemes.map((s) => {
    if (s.problem) return el("p", { class: "dim" }, `${s.name}: ${s.problem}.`);
    const secret = /** @type {HTMLInputElement} */ (el("input", { type: "password", autocomplete: "off" }));
    const user = s.user ? /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off" })) : undefined;
    given.push({ scheme: s.name, user, secret });
    const about = el("p", { class: "dim about small" }, [w.goesIn(s.credential, s.place), s.description].filter(Boolean).join(". "));
    return el("fieldset", {}, el("legend", {}, s.name), about, user ? labelled(w.user, user) : null, labelled(s.user ? w.password : w.secret, secret));
  });
  const make = async () => {
    bad.textContent = "";
    const credentials = Object.fromEntries(given.filter((g) => g.secret.value).map((g) => [g.scheme, { user: g.user?.value ?? "", secret: g.secret.value }]));
    try {
      await ask(`/api/agents/${agent}/identities/${encodeURIComponent(name.value.trim())}`, "PUT", { credentials });
      chosen.set(agent, name.value.trim());
      await made();
    } catch (err) {
      bad.textContent = /** @type {Error} */ (err).message;
    }
  };
  return el("details", { class: "boxed narrow", open: !k.identities.length }, el("summary", {}, w.add), form(make, {},
    labelled(w.name, name), ...fields, bad, el("button", { class: "main" }, w.make)));
}
