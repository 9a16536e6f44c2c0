// @ts-check
// What a picture of a task shows: a lane for each party, what is on it, and an axis of time.
import { stateName } from "./format.js";
import { link } from "./route.js";
import { callsOf, isBad, isRepeat, othersOf } from "./story.js";
import { isOver } from "./task.js";
import { words } from "./words.js";

/** @typedef {import("./story.js").Entry} Entry */
/** @typedef {import("./api.js").Summary} Summary */

/**
 * A bar from a time to another, or a mark if both are the same. Times are milliseconds since 1970. head is when the
 * answer of a call began, track its line among calls at the same time, key what a click selects, href where it leads.
 * @typedef {{from: number, to: number, kind: "call" | "state" | "over" | "delivery" | "restart" | "resumed" | "error" | "asks", says: string, state?: string, bad?: boolean, open?: boolean, head?: number, track?: number, marks?: string[], key?: string, href?: string}} Piece
 * count is of all events, of which those that are kept are in events.
 * @typedef {{party: "caller" | "agent" | "inner" | "webhook", depth: number, label: string, href?: string, says: string, pieces: Piece[], tracks: number, events: Entry[], count: number}} Row
 * @typedef {{calls: Summary[], events: (call: number) => Entry[], deliveries: import("./state.js").Delivery[], others: import("./state.js").OtherCall[], name: (agent: number) => string, restarts: (agent: number) => number[], now: number}} Known
 */

const deepest = 4;
const mostTracks = 4;

/** States in which the agent waits for its caller: they last, whether or not somebody listens. */
const waiting = ["input-required", "auth-required"];

/**
 * The lanes of a task: its callers, its agent, the agents that its handler called with those that these called, and its
 * webhooks.
 * @param {number} agent
 * @param {string} task
 * @param {Known} known
 * @param {number} [depth]
 * @param {Set<string>} [seen]
 * @returns {Row[]}
 */
export function rowsOf(agent, task, known, depth = 0, seen = new Set()) {
  seen.add(agent + " " + task);
  const calls = callsOf(agent, task, known.calls);
  /** @type {Row[]} */
  const rows = [];
  if (depth === 0) {
    for (const caller of new Set(calls.map((c) => c.caller))) rows.push(callerRow(caller, calls.filter((c) => c.caller === caller), calls, known));
  }
  rows.push(agentRow(agent, task, calls, known, depth));
  for (const o of othersOf(agent, task, known.others)) {
    const child = known.calls.find((c) => c.message === o.call.message);
    const at = Date.parse(o.at);
    if (child?.task && depth < deepest && !seen.has(child.agent + " " + child.task)) {
      rows.push(...rowsOf(child.agent, child.task, known, depth + 1, seen));
    } else if (child && !child.task) {
      rows.push({ ...emptyRow("inner", depth + 1, known.name(child.agent)), href: link("traffic", child.id), says: o.call.skill, pieces: [callPiece(child, [], known.now)] });
    } else if (!child) {
      rows.push({ ...emptyRow("inner", depth + 1, o.call.agent), says: o.call.skill, pieces: [{ from: at, to: at, kind: "asks", says: words.story.elsewhere, key: "m" + o.call.message }] });
    }
  }
  const sent = known.deliveries.filter((d) => d.task === task);
  for (const config of new Set(sent.map((d) => d.config ?? ""))) rows.push(webhookRow(config, sent.filter((d) => (d.config ?? "") === config), depth));
  return rows;
}

/** @param {Row["party"]} party @param {number} depth @param {string} label @returns {Row} */
function emptyRow(party, depth, label) {
  return { party, depth, label, says: "", pieces: [], tracks: 1, events: [], count: 0 };
}

/** @param {Summary} c @param {number} now */
function spanOf(c, now) {
  const from = Date.parse(c.begun);
  return { from, to: c.state === "running" ? Math.max(now, from) : from + c.tookMs };
}

/** @param {Summary} c @param {Summary[]} calls of the task @param {number} now @returns {Piece} */
function callPiece(c, calls, now) {
  const w = words.story;
  const { from, to } = spanOf(c, now);
  const marks = [isRepeat(c, calls) ? w.repeat : "", c.faults ? w.fault(c.faults) : "", c.resumed ? w.resumed : "", c.state === "broken" ? w.broken(c.problem ?? "") : ""].filter(Boolean);
  return { from, to, head: c.firstMs ? Math.min(from + c.firstMs, to) : to, kind: "call", says: c.operation || c.called || c.method, open: c.state === "running", bad: isBad(c), marks, key: String(c.id) };
}

/**
 * @param {string} caller
 * @param {Summary[]} calls of this caller
 * @param {Summary[]} all of the task
 * @param {Known} known
 * @returns {Row}
 */
function callerRow(caller, calls, all, known) {
  /** @type {number[]} the end of what is on each track */
  const ends = [];
  const pieces = calls.map((c) => {
    const p = callPiece(c, all, known.now);
    const free = ends.findIndex((end) => end <= p.from);
    p.track = free >= 0 ? free : Math.min(ends.length, mostTracks - 1);
    ends[p.track] = p.to;
    return p;
  });
  return { ...emptyRow("caller", 0, caller), says: words.story.calls(calls.length), pieces, tracks: Math.max(1, ends.length) };
}

/**
 * The states of a task, as the events of all its calls tell them; below others, the calls, too.
 * @param {number} agent
 * @param {string} task
 * @param {Summary[]} calls
 * @param {Known} known
 * @param {number} depth
 * @returns {Row}
 */
function agentRow(agent, task, calls, known, depth) {
  /** @type {{at: number, state: string, key: string}[]} */
  const told = [];
  /** @type {Entry[]} */
  const events = [];
  /** @type {Piece[]} */
  const marks = [];
  let begin = Infinity;
  let end = 0;
  for (const c of calls) {
    const { from, to } = spanOf(c, known.now);
    begin = Math.min(begin, from);
    end = Math.max(end, to);
    for (const e of known.events(c.id)) {
      const { kind, state, text } = /** @type {import("./api.js").Event} */ (e.event);
      events.push(e);
      if (state && (!e.event?.task || e.event.task === task)) told.push({ at: e.at, state: stateName(state), key: e.key });
      if (kind === "error") marks.push({ from: e.at, to: e.at, kind: "error", says: text ?? "", bad: true, key: e.key });
      if (kind === "comment" && /agent was restarted/.test(text ?? "")) marks.push({ from: e.at, to: e.at, kind: "resumed", says: words.story.resumed, key: e.key });
    }
    if (c.outcome && c.outcome !== "error" && c.outcome !== "message" && c.state !== "running") told.push({ at: to, state: stateName(c.outcome), key: String(c.id) });
  }
  for (const at of known.restarts(agent)) if (at > begin && at < end) marks.push({ from: at, to: at, kind: "restart", says: words.story.restarted, key: "r" + at });
  told.sort((a, b) => a.at - b.at);
  /** @type {Piece[]} */
  const states = [];
  for (const t of told) {
    const last = states.at(-1);
    if (last && (last.state === t.state || last.kind === "over")) continue;
    if (last) last.to = t.at;
    const over = isOver(t.state);
    states.push({ from: t.at, to: over ? t.at : Math.max(end, t.at, waiting.includes(t.state) ? known.now : 0), kind: over ? "over" : "state", says: t.state, state: t.state, key: t.key, open: !over && calls.some((c) => c.state === "running") });
  }
  const href = link("tasks", agent, task);
  /** @type {Piece[]} */
  const below = depth > 0 ? calls.map((c) => ({ ...callPiece(c, calls, known.now), href })) : [];
  if (depth > 0) for (const p of [...states, ...marks]) p.href = link("tasks", agent, task, p.key ?? "");
  return { party: depth ? "inner" : "agent", depth, label: known.name(agent), href, says: states.at(-1)?.says ?? words.story.noState, pieces: [...below, ...states, ...marks], tracks: 1, events, count: calls.reduce((n, c) => n + Math.max(c.events, known.events(c.id).length), 0) };
}

/** @param {string} config @param {import("./state.js").Delivery[]} list @param {number} depth @returns {Row} */
function webhookRow(config, list, depth) {
  const refused = list.filter((d) => d.status >= 400).length;
  return {
    ...emptyRow("webhook", depth, [words.story.webhook, config.slice(0, 8)].filter(Boolean).join(" ")), href: link("traffic", "webhooks", list[list.length - 1].id), says: words.story.deliveries(list.length, refused),
    pieces: list.map((d) => ({ from: Date.parse(d.at), to: Date.parse(d.at), kind: "delivery", says: words.story.answered(d.status), bad: d.status >= 400, key: depth ? undefined : "w" + d.id, href: depth ? link("traffic", "webhooks", d.id) : undefined })),
  };
}

/** All times on lanes. @param {Row[]} rows */
export function timesOf(rows) {
  let n = 0;
  for (const r of rows) n += 2 * r.pieces.length + r.events.length;
  const times = new Float64Array(n);
  let i = 0;
  for (const r of rows) {
    for (const p of r.pieces) {
      times[i++] = p.from;
      times[i++] = p.to;
    }
    for (const e of r.events) times[i++] = e.at;
  }
  return times;
}

/**
 * An axis: from a time to a share of its width. Long times in which nothing happens are short on it. Between two pauses
 * a share of 1 would last perShare.
 * @typedef {{share: (at: number) => number, at: (share: number) => number, begin: number, end: number, perShare: number, pauses: {from: number, share: number, width: number, lasts: number}[]}} Axis
 */

const pauseAtLeast = 3000; // milliseconds
const pauseShare = 0.06; // of what is no pause

/**
 * @param {Float64Array} times
 * @returns {Axis}
 */
export function axisOf(times) {
  const points = times.slice().sort();
  const begin = points[0] ?? 0;
  const end = points.at(-1) ?? 0;
  const limit = Math.max(pauseAtLeast, (end - begin) * 0.2);
  const long = /** @type {[number, number][]} */ ([]);
  for (let i = 1; i < points.length; i++) if (points[i] - points[i - 1] >= limit) long.push([points[i - 1], points[i]]);
  const active = end - begin - long.reduce((sum, [from, to]) => sum + to - from, 0);
  if (active <= 0) long.length = 0;
  const whole = long.length ? active * (1 + pauseShare * long.length) : end - begin || 1;
  const knots = [begin];
  const shares = [0];
  /** @type {Axis["pauses"]} */
  const pauses = [];
  /** @param {number} to @param {number} width */
  const go = (to, width) => { knots.push(to); shares.push(shares[shares.length - 1] + width); };
  for (const [from, to] of long) {
    go(from, (from - knots[knots.length - 1]) / whole);
    pauses.push({ from, share: shares[shares.length - 1], width: active * pauseShare / whole, lasts: to - from });
    go(to, active * pauseShare / whole);
  }
  if (end > begin) {
    go(end, 0);
    shares[shares.length - 1] = 1;
  }
  /** Between two lists of equal length. @param {number[]} from @param {number[]} to @param {number} x */
  const between = (from, to, x) => {
    let i = 1;
    while (i < from.length - 1 && from[i] <= x) i++;
    if (from.length < 2 || x <= from[0]) return to[0];
    if (x >= from[from.length - 1]) return to[to.length - 1];
    return to[i - 1] + ((x - from[i - 1]) / (from[i] - from[i - 1])) * (to[i] - to[i - 1]);
  };
  return { share: (at) => between(knots, shares, at), at: (s) => between(shares, knots, s), begin, end, perShare: whole, pauses };
}

/**
 * The times that an axis names between two shares: round ones, and none in a pause.
 * @param {Axis} axis
 * @param {number} least that is between two, as a share
 * @param {number} [seenFrom]
 * @param {number} [seenTo]
 */
export function ticksOf(axis, least, seenFrom = 0, seenTo = 1) {
  const rough = least * axis.perShare;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = power * ([1, 2, 5, 10].find((f) => f * power >= rough) ?? 10);
  const first = axis.at(seenFrom);
  const end = axis.at(seenTo);
  /** @type {number[]} */
  const ticks = [];
  let from = axis.begin;
  let last = -Infinity;
  for (const [to, next] of [...axis.pauses.map((p) => [p.from, p.from + p.lasts]), [axis.end, axis.end]]) {
    for (let k = Math.ceil((Math.max(from, first) - axis.begin) / step); axis.begin + k * step <= Math.min(to, end); k++) {
      const at = axis.begin + k * step;
      const share = axis.share(at);
      if (share - last < least * 0.99) continue;
      last = share;
      ticks.push(at);
    }
    last = axis.share(next) - least / 2; // the pause has a text of its own
    from = next;
  }
  return ticks;
}
