// @ts-check
// As whom the page calls: identities with credentials, which the command keeps.
import { ask } from "./api.js";
import { announce, button, el, fill, form, labelled, select } from "./dom.js";
import { state } from "./state.js";

/** @typedef {{name: string, credential: string, place: string, user?: boolean, description?: string, problem?: string}} Scheme */
/** @typedef {{name: string, schemes: string[]}} Identity */
/** @typedef {{schemes: Scheme[], identities: Identity[], problem?: string}} Known */

/** By agents: the name of the identity that calls are made as. @type {Map<number, string>} */
const chosen = new Map();

const nobody = "Nobody (no credentials)";

/** @param {number} agent @returns {Promise<Known>} */
export function identities(agent) {
  return ask(`/api/agents/${agent}/identities`);
}

/** Headers that have a call made as somebody; "" is nobody. @param {string} name @returns {Record<string, string[]>} */
export function headersAs(name) {
  return name ? { "A2agen-Dev-As": [encodeURIComponent(name)] } : {};
}

/** Headers of the page's calls of an agent. @param {number} agent */
export function headersFor(agent) {
  return headersAs(chosen.get(agent) ?? "");
}

/**
 * A select of identities.
 * @param {Known} k
 * @param {string} name
 * @param {(name: string) => void} change
 */
export function selectIdentity(k, name, change) {
  return select([["", nobody], ...k.identities.map((i) => /** @type {[string, string]} */ ([i.name, `${i.name} (${i.schemes.join(", ")})`]))], name, change);
}

/** @type {import("./places.js").View} */
export const identitiesView = {
  id: "callers", title: "Callers",
  show(root, _parts, signal) {
    const agent = state.chosen;
    const draw = async () => {
      try {
        const k = await identities(agent);
        if (signal.aborted) return;
        if (!k.identities.some((i) => i.name === chosen.get(agent))) chosen.delete(agent);
        fill(root, labelled("Call as", selectIdentity(k, chosen.get(agent) ?? "", (name) => { chosen.set(agent, name); announce(name ? "calls are made as " + name : "calls are made as nobody"); })),
          k.problem ? el("p", { class: "bad" }, k.problem) : null,
          k.identities.length ? el("ul", { class: "plain" }, ...k.identities.map((i) => el("li", { class: "bar" }, `${i.name}: ${i.schemes.join(", ")}`,
            button("Remove", () => void remove(i.name), { "aria-label": "Remove " + i.name })))) : null,
          k.schemes.length ? makeForm(agent, k, draw) : el("p", { class: "dim" }, "The card has no security schemes: everybody may call."));
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
 * The form of a new identity.
 * @param {number} agent
 * @param {Known} k
 * @param {() => Promise<void>} made
 */
function makeForm(agent, k, made) {
  const name = /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off", required: true, maxlength: 60 }));
  const bad = el("p", { class: "bad", role: "alert" });
  /** @type {{scheme: string, user?: HTMLInputElement, secret: HTMLInputElement}[]} */
  const given = [];
  const fields = k.schemes.map((s) => {
    if (s.problem) return el("p", { class: "dim" }, `${s.name}: ${s.problem}.`);
    const secret = /** @type {HTMLInputElement} */ (el("input", { type: "password", autocomplete: "off" }));
    const user = s.user ? /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off" })) : undefined;
    given.push({ scheme: s.name, user, secret });
    const about = el("p", { class: "dim about" }, [`${s.credential}, in: ${s.place}`, s.description].filter(Boolean).join(". "));
    return el("fieldset", {}, el("legend", {}, s.name), about, user ? labelled("User", user) : null, labelled(s.user ? "Password" : "Secret", secret));
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
  return el("details", { open: !k.identities.length }, el("summary", {}, "Somebody else"), form(make, {},
    labelled("Name, for you", name), ...fields, bad, el("button", { class: "main" }, "Add, and call so")));
}
