// @ts-check
// What happened in a task as bars on one axis: calls, waits, events, deliveries, and the tasks of other agents.
import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";
import { ms, stateName } from "./format.js";
import { link } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {import("./api.js").Event} Event */
/** @typedef {import("./api.js").Summary} Summary */

/**
 * A piece of a row: a bar from a time to another, or a point if both are the same. Times are milliseconds since 1970.
 * @typedef {{from: number, to: number, kind: "call" | "wait" | "state" | "event" | "delivery" | "open", says: string, bad?: boolean}} Piece
 * @typedef {{depth: number, label: string, href?: string, says: string, pieces: Piece[]}} Row
 * @typedef {{calls: Summary[], events: (call: number) => Event[], deliveries: import("./state.js").Delivery[], others: import("./state.js").OtherCall[], name: (agent: number) => string, now: number}} Known
 */

const deepest = 4;
const mostCalls = 200;

/** States in which the agent waits for its caller. */
const waiting = ["input-required", "auth-required"];
const terminal = ["completed", "failed", "canceled", "rejected"];

/**
 * The rows of a task, and below them those of the tasks that its handlers made at other agents.
 * @param {number} agent
 * @param {string} task
 * @param {Known} known
 * @param {number} [depth]
 * @param {Set<string>} [seen]
 * @returns {Row[]}
 */
export function rowsOf(agent, task, known, depth = 0, seen = new Set()) {
  seen.add(agent + " " + task);
  const calls = known.calls.filter((c) => c.agent === agent && c.task === task).slice(-mostCalls);
  const rows = [statesRow(agent, task, calls, known, depth)];
  for (const c of calls) rows.push(callRow(c, known, depth + 1));
  const sent = known.deliveries.filter((d) => d.task === task);
  for (const config of new Set(sent.map((d) => d.config ?? ""))) {
    rows.push(deliveriesRow(config, sent.filter((d) => (d.config ?? "") === config), depth + 1));
  }
  const asked = known.others.filter((o) => o.agent === agent && o.call.task === task);
  for (const o of new Map(asked.map((o) => [o.call.message, o])).values()) { // one that is sent again is told again
    const child = known.calls.find((c) => c.message === o.call.message);
    const at = Date.parse(o.at);
    if (child?.task && depth < deepest && !seen.has(child.agent + " " + child.task)) {
      rows.push(...rowsOf(child.agent, child.task, known, depth + 1, seen));
    } else if (child) {
      if (!child.task) rows.push({ ...callRow(child, known, depth + 1), label: known.name(child.agent) + ": " + o.call.skill });
    } else {
      rows.push({ depth: depth + 1, label: "asks " + o.call.agent, says: "skill " + o.call.skill + "; it is not called by way of this command", pieces: [{ from: at, to: at, kind: "call", says: "asked" }] });
    }
  }
  return rows;
}

/** @param {Summary} c @param {number} now */
function spanOf(c, now) {
  const from = Date.parse(c.begun);
  return { from, to: c.state === "running" ? Math.max(now, from) : from + c.tookMs };
}

/**
 * The states of a task, as the events of all its calls tell them.
 * @param {number} agent
 * @param {string} task
 * @param {Summary[]} calls
 * @param {Known} known
 * @param {number} depth
 * @returns {Row}
 */
function statesRow(agent, task, calls, known, depth) {
  /** @type {{at: number, state: string}[]} */
  const told = [];
  let end = 0;
  for (const c of calls) {
    const span = spanOf(c, known.now);
    end = Math.max(end, span.to);
    for (const e of known.events(c.id)) {
      if (e.state && (!e.task || e.task === task)) told.push({ at: span.from + e.atMs, state: stateName(e.state) });
    }
    if (c.outcome && c.events === 0 && c.state !== "running") told.push({ at: span.to, state: stateName(c.outcome) });
  }
  told.sort((a, b) => a.at - b.at);
  /** @type {Piece[]} */
  const pieces = [];
  for (const t of told) {
    const last = pieces.at(-1);
    if (last?.says === t.state || (last && terminal.includes(last.says))) continue;
    if (last) last.to = t.at;
    const open = !terminal.includes(t.state);
    pieces.push({ from: t.at, to: open ? Math.max(end, t.at) : t.at, kind: waiting.includes(t.state) ? "wait" : "state", says: t.state, bad: t.state === "failed" || t.state === "rejected" });
  }
  return { depth, label: known.name(agent), href: link("tasks", agent, task), says: pieces.at(-1)?.says ?? "no state is known", pieces };
}

/**
 * @param {Summary} c
 * @param {Known} known
 * @param {number} depth
 * @returns {Row}
 */
function callRow(c, known, depth) {
  const { from, to } = spanOf(c, known.now);
  const head = c.firstMs ? Math.min(from + c.firstMs, to) : to;
  const bad = c.state === "broken" || (c.status ?? 0) >= 400 || c.outcome === "error";
  /** @type {Piece[]} */
  const pieces = [{ from, to: head, kind: "wait", says: "until the answer began" }, { from: head, to, kind: c.state === "running" ? "open" : "call", says: "the answer", bad }];
  for (const e of known.events(c.id)) {
    pieces.push({ from: from + e.atMs, to: from + e.atMs, kind: "event", says: [e.n, e.kind, stateName(e.state), e.artifact].filter(Boolean).join(" "), bad: e.kind === "error" });
  }
  const outcome = c.state === "running" ? "runs" : bad ? c.problem || stateName(c.outcome) || "status " + c.status : ms(c.tookMs);
  return { depth, label: c.called || c.operation || c.method, href: link("traffic", c.id), says: [c.caller, c.binding, c.events ? c.events + " events" : "", c.faults ? "fault: " + c.faults : "", outcome].filter(Boolean).join(" · "), pieces };
}

/**
 * @param {string} config
 * @param {import("./state.js").Delivery[]} list
 * @param {number} depth
 * @returns {Row}
 */
function deliveriesRow(config, list, depth) {
  const refused = list.filter((d) => d.status >= 400).length;
  return {
    depth, label: "push " + config.slice(0, 8), href: link("traffic", "webhooks", list[list.length - 1].id), says: (list.length === 1 ? "1 delivery" : `${list.length} deliveries`) + (refused ? `, ${refused} refused` : ""),
    pieces: list.map((d) => ({ from: Date.parse(d.at), to: Date.parse(d.at), kind: "delivery", says: `#${d.id} answered with ${d.status}`, bad: d.status >= 400 })),
  };
}

/**
 * An axis: from a time to a share of its width. Long times in which nothing happens are short on it.
 * @typedef {{share: (at: number) => number, at: (share: number) => number, begin: number, end: number, pauses: {share: number, width: number, lasts: number}[]}} Axis
 */

const pauseAtLeast = 3000; // milliseconds
const pauseShare = 0.06; // of what is no pause

/**
 * @param {Row[]} rows
 * @returns {Axis}
 */
export function axisOf(rows) {
  const points = [...new Set(rows.flatMap((r) => r.pieces.flatMap((p) => [p.from, p.to])))].sort((a, b) => a - b);
  const begin = points[0] ?? 0;
  const end = points.at(-1) ?? 0;
  const gaps = points.slice(1).map((p, i) => p - points[i]);
  const limit = Math.max(pauseAtLeast, (end - begin) * 0.2);
  const active = gaps.filter((g) => g < limit).reduce((a, b) => a + b, 0);
  /** @type {Axis["pauses"]} */
  const pauses = [];
  const weights = gaps.map((g) => (g < limit ? g : active > 0 ? active * pauseShare : 1));
  const whole = weights.reduce((a, b) => a + b, 0) || 1;
  const shares = [0];
  weights.forEach((w, i) => {
    shares.push(shares[i] + w / whole);
    if (gaps[i] >= limit && active > 0) pauses.push({ share: shares[i], width: w / whole, lasts: gaps[i] });
  });
  /** Between two lists of equal length. @param {number[]} from @param {number[]} to @param {number} x */
  const between = (from, to, x) => {
    let low = 0;
    let high = from.length - 1;
    if (high < 1 || x <= from[0]) return to[0] ?? 0;
    if (x >= from[high]) return to[high];
    while (high - low > 1) {
      const mid = (low + high) >> 1;
      if (from[mid] <= x) low = mid;
      else high = mid;
    }
    return to[low] + ((x - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
  };
  return { share: (at) => between(points, shares, at), at: (s) => between(shares, points, s), begin, end, pauses };
}

const finest = 800; // points of a row that are drawn

/**
 * Draws a row's pieces: what would be at one place is drawn once.
 * @param {Piece[]} pieces
 * @param {Axis} axis
 */
function bars(pieces, axis) {
  const drawn = new Set();
  const root = el("div", { class: "bars" });
  for (const p of pieces) {
    const from = axis.share(p.from);
    const width = axis.share(p.to) - from;
    const point = p.kind === "event" || p.kind === "delivery";
    const key = point ? Math.round(from * finest) + (p.bad ? " bad" : "") + p.kind : "";
    if (!point && p.from === p.to && p.kind !== "state") continue;
    if (key && drawn.has(key)) continue;
    drawn.add(key);
    const b = el("span", { class: `piece is-${p.kind} ${p.bad ? "wrong" : ""}`, title: `${p.says}, +${ms(p.from - axis.begin)}` + (p.to > p.from ? `, for ${ms(p.to - p.from)}` : "") });
    b.style.left = `min(${from * 100}%, 100% - 2px)`;
    if (!point) b.style.width = width * 100 + "%";
    root.append(b);
  }
  return root;
}

/** @param {Axis} axis */
function scale(axis) {
  const root = el("div", { class: "bars scale" });
  for (const s of [0, 0.2, 0.4, 0.6, 0.8]) {
    const mark = el("span", { class: "at" }, "+" + ms(axis.at(s) - axis.begin));
    mark.style.left = s * 100 + "%";
    root.append(mark);
  }
  return root;
}

/** How wide the axis is, as a multiple of what there is room for. */
let zoom = 1;

/**
 * Draws the timeline of a task, and keeps it as it changes.
 * @param {HTMLElement} root
 * @param {number} agent
 * @param {string} task
 * @param {AbortSignal} signal
 */
export function showTimeline(root, agent, task, signal) {
  /** @type {Map<number, Event[]>} */
  const events = new Map();
  const body = el("div");
  const wide = el("span", { role: "status" });
  /** @param {number} by */
  const scaleBy = (by) => { zoom = Math.min(64, Math.max(1, zoom * by)); draw(); };
  const table = el("div", { class: "timeline", tabindex: "0", role: "region", "aria-label": "Timeline" }, body);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asked;
  let took = 0; // to draw, so that a stream of many events leaves time for anything else
  const draw = () => {
    const begun = performance.now();
    clearTimeout(asked);
    asked = undefined;
    const rows = rowsOf(agent, task, {
      calls: [...state.calls.values()], events: (id) => events.get(id) ?? [], deliveries: state.deliveries, others: state.others,
      name: (n) => state.agents.get(n)?.name ?? "agent " + n, now: Date.now(),
    });
    const axis = axisOf(rows);
    wide.textContent = `${ms(axis.end - axis.begin)} in all` + (axis.pauses.length ? `; pauses are shortened: ${axis.pauses.map((p) => ms(p.lasts)).join(", ")}` : "") + (zoom > 1 ? `; ${zoom} times as wide` : "");
    body.style.width = zoom * 100 + "%";
    fill(body, el("table", {}, el("caption", { class: "unseen" }, "What happened in task " + task), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "What"), el("th", { scope: "col" }, scale(axis)))),
      el("tbody", {}, ...rows.map((r) => tableRow(r, axis)))));
    const missing = new Set([...state.calls.values()].filter((c) => c.events > 0 && !events.has(c.id) && rows.some((r) => r.href === link("traffic", c.id))).map((c) => c.id));
    for (const id of missing) void load(id);
    took = performance.now() - begun;
  };
  const changed = () => { asked ??= setTimeout(draw, 16 + 8 * took); };
  /** @param {number} id */
  const load = async (id) => {
    events.set(id, []);
    try {
      const x = await ask(`/api/calls/${id}?brief=1`, "GET", undefined, signal);
      const came = events.get(id) ?? [];
      const list = x.eventList ?? [];
      events.set(id, [...list, ...came.filter((e) => e.n > list.length)]);
      changed();
    } catch {
      // it is no longer kept, or nobody looks any more
    }
  };
  fill(root, el("div", { class: "bar" }, button("Wider", () => scaleBy(2)), button("Narrower", () => scaleBy(0.5)), wide), table,
    el("p", { class: "dim" }, el("span", { class: "key is-wait" }, "waits"), el("span", { class: "key is-call" }, "answers"), el("span", { class: "key is-state" }, "state of the task"), el("span", { class: "key is-event" }, "event"), el("span", { class: "key is-delivery" }, "delivery")));
  draw();
  on("event", (c) => {
    const list = events.get(c.call);
    if (!list) return;
    if (c.event.n > (list.at(-1)?.n ?? 0)) list.push(c.event);
    changed();
  }, signal);
  for (const kind of /** @type {const} */ (["call", "delivery", "other", "loaded", "cleared"])) on(kind, changed, signal);
  signal.addEventListener("abort", () => clearTimeout(asked));
}

/**
 * @param {Row} r
 * @param {Axis} axis
 */
function tableRow(r, axis) {
  const from = r.pieces.length ? Math.min(...r.pieces.slice(0, 2).map((p) => p.from)) : axis.begin;
  const label = el("th", { scope: "row" }, r.href ? el("a", { href: r.href }, r.label) : r.label, el("span", { class: "dim" }, ` +${ms(from - axis.begin)} · ${r.says}`));
  label.style.paddingLeft = r.depth * 0.9 + 0.5 + "rem";
  return el("tr", {}, label, el("td", {}, bars(r.pieces, axis)));
}

/** @param {HTMLElement} root */
function noTask(root) {
  fill(root, el("p", { class: "dim" }, "This call is of no task."));
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const timelineOfCall = {
  id: "timeline", title: "Timeline",
  show: (root, x, signal) => (x.task ? showTimeline(root, x.agent, x.task, signal) : noTask(root)),
};

/** @type {import("./places.js").Panel<{agent: number, id: string}>} */
export const timelineOfTask = {
  id: "timeline", title: "Timeline",
  show: (root, t, signal) => showTimeline(root, t.agent, t.id, signal),
};
