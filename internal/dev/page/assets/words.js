// @ts-check
// Every text of the page, in one table: what a reader is told, in the protocol's own words. Texts with a number or a name
// in them are functions. What an agent says is not here, and neither are ids, addresses and the names of the protocol.

/** @param {number} n @param {string} one @param {string} [many] */
export const count = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;

export const words = {
  places: { chat: "Chat", call: "Call", tasks: "Tasks", traffic: "Traffic", agent: "Agent" },

  frame: {
    name: "a2agen dev", skip: "Skip to the content", places: "Places", views: "Views", agent: "Agent", menu: "Menu", search: "Search",
    rebuild: "Rebuild", pause: "Pause watching", resume: "Watch again", clear: "Delete all tasks", keys: "Keys", close: "Close",
    asked: (/** @type {string} */ what) => what + " was asked for",
    paused: "paused",
    stale: (/** @type {string} */ step, /** @type {string} */ since) => `${step} failed; the agent of ${since} still answers`,
    down: (/** @type {string} */ name) => name + ": no agent answers",
    keyOf: { search: "search", keys: "these keys", list: "move and open, in a list", send: "send, in a form", zoom: "nearer and farther, on a timeline" },
    copied: "copied", notCopied: "the browser does not let the page copy: mark the text and copy it",
    tryAgain: "Try again",
  },

  search: {
    title: "Search skills, tasks and calls", placeholder: "A skill, a task, a call, a place",
    none: "Nothing has these words.", place: "place", skill: "skill", task: "task", call: "call",
    found: (/** @type {number} */ n) => count(n, "result"),
  },

  chat: {},
  call: {},
  tasks: {},
  story: {},
  traffic: {},
  agent: {},
};
