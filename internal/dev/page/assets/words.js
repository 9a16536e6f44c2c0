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
  traffic: {
    calls: "Calls", call: "Call", list: "Calls, the newest first", ofCall: "Of this call", search: "Search calls", choose: "Choose a call to see what was said.", back: "‹ Calls",
    caller: "Caller", binding: "Binding", agent: "Agent", allCallers: "all callers", allBindings: "all bindings", allAgents: "all agents",
    messages: "messages", failed: "failed", clear: "Clear", task: "Task", edit: "Edit and send again",
    save: (/** @type {number} */ n) => `Save ${count(n, "call")} as a recording`,
    saveAbout: "A file that tests play: record.Replay",
    none: "No call yet. Every call of the agent's address comes here, whoever makes it.", noneDo: "Make one in Call.", noneLike: "No call is like that.",
    running: "running", broken: "broken", error: "error",
    events: (/** @type {number} */ n) => count(n, "event"), fault: (/** @type {string} */ f) => "fault: " + f,
    message: "Message", bytes: "Bytes", request: "Request", answer: "Answer", nothing: "Nothing is in it.",
    asIn: (/** @type {string} */ version) => `Said in ${version}, shown as 1.0 has it. The very bytes are in Bytes.`,
    notA2A: "No operation of A2A. What was said is in Bytes.",
    moreEvents: (/** @type {number} */ n) => count(n, "more event") + ": see the task, or Bytes.",
    hit: (/** @type {string} */ f) => "A fault that is switched on in Agent, Faults hit this call: " + f,
    sizes: (/** @type {string} */ sent, /** @type {string} */ received) => `${sent} sent, ${received} received`,
    headers: (/** @type {number} */ n) => count(n, "header"),
    more: (/** @type {number} */ n, /** @type {number} */ of) => `${n} more of the ${of} events`,
    notKept: (/** @type {number} */ n) => `${n} more came and are not kept.`,
    cut: "(not all of it was kept)", all: (/** @type {string} */ size) => "all " + size,
  },

  webhooks: {
    title: "Webhooks", deliveries: "Deliveries", delivery: "Delivery", list: "Deliveries, the newest first", choose: "Choose a delivery to see what was sent.", back: "‹ Deliveries",
    about: "A webhook of this page for push notifications: give it with a message, or set it on a task.",
    none: "No delivery yet. In Call, send a message with this webhook; the card must offer push notifications.",
    url: "URL", token: "Token", copy: "Copy", copyOf: (/** @type {string} */ what) => "Copy " + what, copyConfig: "Copy as taskPushNotificationConfig",
    refuseTitle: "Refuse deliveries", status: "Status", times: "Deliveries", always: "all", refuse: "Refuse", take: "Accept all",
    refusals: { 500: "500: refused, and sent again", 503: "503: try later", 429: "429: too many", 401: "401: not known", 410: "410: gone, for ever" },
    taken: "deliveries are accepted", refused: "deliveries are refused", allTaken: "all are accepted",
    allRefused: (/** @type {number} */ status, /** @type {number} */ left = 0) => (left ? `the next ${left} are` : "all are") + ` refused with ${status}`,
    task: (/** @type {string} */ id) => "task " + id, event: (/** @type {string} */ n) => "event " + n, repeat: "sent again",
    tokens: /** @type {Record<string, string>} */ ({ good: "token", bad: "wrong token", absent: "no token" }),
    tokensLong: /** @type {Record<string, string>} */ ({ good: "the token is right", bad: "the token is not that of this webhook", absent: "no token" }),
    signatures: /** @type {Record<string, string>} */ ({ good: "signed", bad: "bad signature", absent: "not signed" }),
    signedBy: (/** @type {string} */ issuer, /** @type {string} */ agent) => `signed by ${issuer}, with a key of the agent at ${agent}`,
    badSignature: (/** @type {string} */ issuer, /** @type {string} */ why) => `the signature is not good${issuer ? " (it names " + issuer + ")" : ""}: ${why}`,
    answered: "Answered", signature: "Signature", attempt: "Attempt", repeatLong: "sent again", ofTask: "Task",
    body: (/** @type {string} */ size) => "Body, " + size, bodyLabel: "Body", headers: "Headers",
  },

  agent: {
    agents: "Agents", choose: "Show", chooseOf: (/** @type {string} */ name) => "Show " + name, pairs: "Who calls whom", calls: "Calls",
    pairColumns: ["From", "To", "Calls", "Failed", "Mean time"], callsOfAll: "Calls of all agents, the newest first",
    log: "Log", logLines: "Log lines", searchLog: "Search the log", toEnd: "To the end", noLines: "The agent has printed nothing yet. What it prints comes here.", noLineLike: "No line has these words.",
  },

  card: {
    title: "Card", ofCard: "Of the card", overview: "Overview", json: "JSON", lint: "Lint", diff: "Differences",
    version: "Version", provider: "Provider", address: "Address", standsBefore: "Stands before", folder: "Folder", binding: "Binding", url: "URL",
    offers: "What it offers", interfaces: "Interfaces",
    streaming: "streaming", noStreaming: "no streaming: calls wait, or return at once and are asked about",
    push: "push notifications", noPush: "no push notifications: webhooks are not called",
    schemas: "schemas of skills", noSchemas: "no schemas of skills: forms take text, JSON and files",
    security: "security schemes", noSecurity: "no security schemes: everybody may call",
    extended: "extended card", noExtended: "no extended card: all callers see the same",
    skills: (/** @type {number} */ n) => count(n, "skill"),
    examples: (/** @type {string[]} */ list) => list.map((e) => `“${e}”`).join(" · "),
    modes: (/** @type {string} */ takes, /** @type {string} */ gives) => [takes && "takes " + takes, gives && "answers with " + gives].filter(Boolean).join("; "),
    got: (/** @type {number} */ status, /** @type {string} */ type, /** @type {number} */ size) => `HTTP ${status} · ${type || "no media type"} · ${count(size, "byte")}`,
    askedFor: "Asked for in", ofVersion: (/** @type {string} */ v) => "version " + v, ofNone: "no version", copy: "Copy",
    lintGood: "Callers with the official SDKs can do what the card demands.",
    diffAbout: "What changes for callers that know an earlier card, once this one is published.",
    commit: "With the last commit", publishedAt: "With the card published at", diffPlaceholder: "URL of an agent, or of its card", privateAddress: "a private address", compare: "Compare", comparing: "comparing …",
    before: "before", after: "now", was: (/** @type {string} */ was = "", /** @type {string} */ is = "") => `was ${was || "nothing"}, is ${is || "nothing"}`, same: "Nothing is different for callers.",
  },

  faults: {
    title: "Faults", fault: "Fault", hits: "Calls hit", on: "Faults that are on", allOff: "Remove all", remove: "Remove", removeOf: (/** @type {string} */ f) => "Remove " + f,
    about: (/** @type {string} */ agent) => `Calls that fail on purpose. A fault meets every call of ${agent}, in each version and binding, whoever makes it; the card only if it is named.`,
    none: "No fault is on: calls pass as they are.", now: (/** @type {number} */ n) => (n ? count(n, "fault") + " on" : "calls pass as they are"),
    add: "Add a fault", switchOn: "Switch on", operation: "Operation", allOperations: "all operations", times: "Times", always: "always", skip: "Skip the first", percent: "Per cent of calls", or: " or ",
  },

  callers: {
    title: "Callers", anonymous: "Anonymous", callAs: "Call as", add: "Add a caller", make: "Add, and call as it", name: "Name", namePlaceholder: "a name for you, such as alice", user: "User", password: "Password", secret: "Secret",
    remove: "Remove", removeOf: (/** @type {string} */ name) => "Remove " + name, now: (/** @type {string} */ name) => (name ? "calls are made as " + name : "calls are made anonymously"),
    about: "The callers as whom this page calls the agent. Credentials stay in the memory of the command, and are never shown again.",
    goesIn: (/** @type {string} */ credential, /** @type {string} */ place) => `${credential}, in: ${place}`,
    noSchemes: "The card has no security schemes: everybody may call.",
  },
};
