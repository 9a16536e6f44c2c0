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

  chat: {
    conversation: "Conversation", conversations: "Conversations", fresh: "New conversation", untitled: "(no text)",
    messages: (/** @type {number} */ n) => count(n, "message"),
    older: (/** @type {number} */ n) => `Show ${n === 1 ? "the message" : n + " messages"} before`,
    allConversations: (/** @type {number} */ n) => `All ${n} conversations`,
    noConversation: "What you say here is kept until the command ends.",
    begin: (/** @type {string} */ name) => "Talk to " + name, starters: "Begin with one of these",
    noText: "No skill of this agent takes a text. ", toCall: "Call has a form for its input.",
    noCard: "The card of this agent cannot be read: ",

    message: "Message", placeholder: "Say something", attach: "Attach files", drop: "Drop files to attach them", remove: (/** @type {string} */ name) => "Remove " + name,
    send: "Send", options: "Options", skill: "Skill", automatic: "automatic", caller: "Caller", binding: "Binding and version", mode: "Mode",
    modes: { SendStreamingMessage: "stream", SendMessage: "wait", now: "return at once" },
    noStream: "stream (this agent has none)", nothing: "Write something first.", noInterface: "The card has no interface that a2agen speaks.",
    answering: "Answering: ", dismiss: "Do not answer, begin a new task",

    waiting: "waiting for the agent", streamEnded: "the stream ended before the task did", took: (/** @type {string} */ ms) => ms, you: "You",
    steps: (/** @type {number} */ n) => count(n, "step"), lastSteps: (/** @type {number} */ n) => `the last ${n} of them`,
    cancel: "Cancel", stop: "Stop", follow: "Follow", refresh: "Refresh", task: "Task", call: (/** @type {number} */ id) => "Call #" + id,
    question: "Question", noQuestion: "The agent waits for an answer.", asked: "asked", edit: "Edit and send again",
    rejected: "The task was rejected.", failed: "The task failed.", canceled: "The task was canceled.",

    rejectedInput: (/** @type {string} */ what) => "The agent rejected the message: " + what,
    error: (/** @type {string} */ what) => "The agent answered with an error: " + what, noWords: "an error without words",
    broken: (/** @type {string} */ why) => "The answer broke off" + (why ? ": " + why : "."), unreadable: (/** @type {string} */ why) => "The answer cannot be read: " + why,
    notKept: "What was said in this call is no longer kept.",
    todo: {
      input: "Change the message and send it again, or use the form in Call.", caller: "Choose a caller with credentials below, or add one in Agent, Callers.",
      type: "No skill takes this kind of content: choose another skill below, or use the form in Call.", over: "The task takes no more messages. What you say next begins a new one.",
      broken: "See in Agent, Log whether the agent runs, and send the message again.", other: "The call has all of what was said.",
    },

    copy: "Copy", code: "code", json: "JSON", allRows: (/** @type {number} */ n) => `All ${n} rows`,
    cut: (/** @type {string} */ shown, /** @type {string} */ all) => `${shown} of ${all} are shown; the events of the task have all of it.`,
    file: "file", image: "Image", save: "Save", address: "an address, which is not opened", artifact: (/** @type {string} */ name) => "Artifact " + name,
    artifacts: "Artifacts", noArtifact: "There is no artifact yet.", pieces: "Pieces", joined: "Joined", single: "One by one",
    lastPieces: (/** @type {number} */ n) => `The last ${n} pieces; all of them are among the events.`,
    eventOf: (/** @type {number} */ n, /** @type {number} */ id) => `event ${n} of call #${id}`,
  },
  call: {
    // The place.
    skills: "Skills", automatic: "Automatic", chooses: "The agent chooses the skill.", form: "Message", answer: "Answer",
    noSkills: "The card has no skills. The agent chooses what to do with a message.",
    noSchema: "The card has no schema for this skill: write a text, or JSON.",
    nothingSent: "Fill in the form and send it. The answer comes here.",
    back: "Back to the form", send: "Send", sendAnyway: "Send anyway", clear: "Clear", tryAgain: "Try again",
    underWay: (/** @type {number} */ id) => `Call #${id} is under way.`,
    callInTraffic: (/** @type {number} */ id) => `Call #${id} in Traffic`, callShort: (/** @type {number} */ id) => `Call #${id}`,
    message: "Message", json: "JSON", noInterface: "The card has no interface that a2agen speaks.",
    // The options of a call.
    options: "Options", binding: "Binding and version", mode: "Mode", context: "Context", newContext: "a new one", caller: "Caller", callers: "Manage callers",
    stream: "Stream", wait: "Wait", now: "Return at once", anonymous: "anonymous", inContext: (/** @type {string} */ id) => "context " + id,
    not: (/** @type {string} */ what, /** @type {string} */ why) => `${what} (${why})`,
    noStream: "the card does not offer it", noBinding: "not in the card", noPush: "the card has no push notifications", oneWay: "the card has one interface", noSchemes: "the card has no security schemes",
    // How to write a message.
    writeAs: "Write it as", asForm: "Form", asJSON: "JSON", asText: "Text", data: "Data, as JSON", text: "Text", paste: "Paste JSON", pasted: "pasted",
    notJSON: (/** @type {string} */ why) => "is not JSON: " + why, clipboardNotJSON: (/** @type {string} */ why) => "The clipboard holds no JSON: " + why,
    noClipboard: "The browser does not let the page read the clipboard: choose JSON and paste there.",
    nothing: "there is nothing to send", files: "Files", dropFiles: "or drop them here", dropFile: "or drop it here", removeFile: (/** @type {string} */ name) => "Remove " + name, remove: "Remove",
    base64: (/** @type {number} */ n) => count(n, "character") + " of base64",
    // Fields. What a type is called, and its rules.
    types: /** @type {Record<string, string>} */ ({ string: "text", integer: "whole number", number: "number", boolean: "yes or no", array: "list", null: "null" }),
    formats: /** @type {Record<string, string>} */ ({ date: "date", time: "time", "date-time": "date and time", email: "email address", uri: "address (URI)", uuid: "UUID", byte: "file", binary: "file" }),
    required: "required", isRequired: "is required", notComplete: "is not complete", file: "file",
    between: (/** @type {string | number} */ a, /** @type {string | number} */ b) => `${a} to ${b}`, least: (/** @type {string | number} */ n) => "at least " + n, most: (/** @type {string | number} */ n) => "at most " + n,
    above: (/** @type {number} */ n) => "greater than " + n, below: (/** @type {number} */ n) => "less than " + n, multiple: (/** @type {number} */ n) => "a multiple of " + n,
    like: (/** @type {string} */ pattern) => "matching " + pattern, unequal: "no two equal",
    defaultIs: (/** @type {string} */ v) => "default " + v, useDefault: (/** @type {string} */ v) => "Use default: " + v, useExample: (/** @type {string} */ v) => "Example: " + v, example: (/** @type {string} */ v) => "e.g. " + v,
    leftOut: "(left out)", choose: "Choose…", selectDefault: (/** @type {string} */ v) => `default: ${v}`,
    option: (/** @type {number} */ n) => "option " + n, value: "value", asJSONField: (/** @type {string} */ name) => name + " (JSON)", json_: "JSON",
    unshown: "No field can show what its schema says: write it as JSON.", noForm: "no form shows this value", toJSON: "as JSON", toForm: "as a form",
    add: (/** @type {string} */ name) => "Add " + name, leaveOut: (/** @type {string} */ name) => `Leave ${name} out`, addTo: (/** @type {string} */ name) => "Add to " + name,
    up: (/** @type {string} */ name) => name + " up", down: (/** @type {string} */ name) => name + " down", moved: (/** @type {string} */ name, /** @type {number} */ to) => `${name} is number ${to} now`,
    addMember: (/** @type {string} */ name) => "Add a member to " + name, memberName: (/** @type {string} */ name) => "Name in " + name, memberOf: (/** @type {string} */ name) => "a member of " + name, name: "name",
    noName: "has no name", sameName: "is there already",
    // Mistakes.
    notSent: (/** @type {number} */ n, /** @type {string} */ first) => (n === 1 ? `Not sent: 1 mistake, at ${first}.` : `Not sent: ${n} mistakes, the first at ${first}.`),
    rejected: (/** @type {string} */ what) => "Rejected by the agent: " + what, andMore: (/** @type {number} */ n) => `, and ${n} more`,
    unreadable: (/** @type {string} */ why) => "The answer cannot be read: " + why, error: (/** @type {string} */ why) => "The agent answered with an error" + (why && ": " + why), theJSON: "The error as JSON",
    // The question of a task.
    asks: "The agent asks", needsAuthorization: "The agent needs an authorization", noWords: "(without words)", grant: "Something has to be granted.", granted: "It is granted.",
    answerName: "Answer", authorizationHeader: "Header Authorization of the answer", continue: "It is granted: continue", scheme: "Scheme", scopes: "Scopes", until: "Until", where: "Address", open: "Open this address, which the agent chose",
    // A call in other words.
    copyAs: "Copy as", inOtherWords: "The call in other words", copyTitle: "Copy", copy: "Copy", languages: "Language",
    curl: "curl", go: "Go", test: "Test", asCurl: "as curl", asGo: "as Go", asTest: "as a test",
    aboutCurl: "Variables of the shell stand for secrets, which are not kept.", aboutGo: "A program with the typed client of the project. It reads credentials from the environment.",
    aboutTest: "A test of the project's handlers, which expects what was answered. Save it in their folder as a file that ends with _test.go.",
    noProject: "needs the project: start a2agen dev in its folder",
    saveCall: "Save as a recording", saveTask: (/** @type {number} */ n) => `Save the ${n} calls of its task as a recording`, saved: "Saved as recording.jsonl, which record.Replay plays.", leftOutOf: (/** @type {string} */ what) => " Not in it: " + what,
    // A call once more.
    again: "Run again", cannotAgain: "Only calls of the protocol's operations can be made again here. Copy this one as curl.", aboutAgain: "Change a value, or none, and make the call again in the same version and binding.",
    undo: "Undo changes", before: "Before", after: "Now", changedOf: (/** @type {string} */ what) => "Changed: " + what, nothingChanged: "Nothing changed", events: (/** @type {number} */ n) => count(n, "event"),
    // Versions and bindings.
    compare: "Compare versions", compared: "Compare", everyWay: "The same call in every version and binding", aboutCompare: "The message is sent once in each version and binding of the card, one after the other. Each makes a task of its own.",
    compareAll: "Send in every version and binding", asStream: "as a stream", notCompared: "Nothing was compared yet. Write a message in Call, choose Compare versions, and the answers stand side by side here.", toCall: "Write a message",
    aMessage: "a message", agentOf: (/** @type {number} */ n) => "agent " + n, allAnswered: "all versions and bindings have answered", base: "(others are compared with this)", nothingToCompare: "there is nothing to compare", nothingLost: "nothing",
    rows: { failed: "Failed", call: "Call", asked: "Method", outcome: "Outcome", first: "First byte", whole: "Total", sent: "Sent", received: "Received", event: (/** @type {number} */ n) => "Event " + n, lostSent: "Lost in the request", lostBack: "Lost in the answer" },
    // Two callers.
    two: "As two callers", aboutTwo: "Both callers send the message, and then each asks for the task of the other.", noCallers: "No caller has credentials yet: both are anonymous. Add callers in Agent, Callers.",
    first: "First caller", second: "Second caller", sendBoth: "Send as both", as: (/** @type {string} */ name) => "As " + name, running: "under way", status: (/** @type {number | undefined} */ n) => "status " + n,
    sees: (/** @type {string} */ a, /** @type {string} */ b) => `${a} sees the task of ${b}`, seesNot: (/** @type {string} */ a, /** @type {string} */ b) => `${a} does not see the task of ${b}`, sameCaller: ": it is the same caller",
    // Webhooks.
    webhook: "Webhook", sendWebhook: "Send, with the inbox as webhook", aboutWebhook: "The agent sends what happens to the task to the inbox of this page, in Traffic, Webhooks.", taskWebhook: "Send what comes to the inbox",
    howPush: "An agent of yours sends them with this under capabilities in agent.yaml:", refusedHook: (/** @type {number} */ id) => `The agent rejected it: see call #${id} in Traffic.`,
    nobodyWaits: "nobody waits any more",
  },
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
