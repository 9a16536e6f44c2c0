// @ts-check
// The picture of a task: a lane for each party on one axis of time. It draws what is seen, however many events there are:
// those that fall on one place are one tick, the higher the more they are.
import { button, el, fill } from "./dom.js";
import { go, link } from "./route.js";
import { describe, restarts, span, storyOf } from "./story.js";
import { on, state } from "./state.js";
import { isOver } from "./task.js";
import { axisOf, rowsOf, ticksOf, timesOf } from "./timeline.js";
import { words } from "./words.js";

/** @typedef {import("./story.js").Entry} Entry */
/** @typedef {import("./timeline.js").Piece} Piece */
/** @typedef {import("./timeline.js").Row} Row */
/** @typedef {{row: Row, top: number, height: number, first: Int32Array | undefined, counts: Uint32Array | undefined}} Lane first and counts: of the events at each place */
/** @typedef {{title: string, lines: string[], key?: string, href?: string, x: number, top: number}} Spot what the pointer is at */

const w = words.story;
const axisHeight = 24;
const trackHeight = 22;
const heights = { caller: 18, agent: 76, inner: 46, webhook: 40 };
const pad = 14; // pixels at both ends of the axis
const place = 3; // pixels of a tick and its gap
const near = 3; // places
const dragged = 6; // pixels, from which on a movement is no click
const mostZoom = 4096;

/**
 * Shows the picture of a task until the signal ends that.
 * @param {HTMLElement} root
 * @param {{select: (key: string, how: "click" | "key") => void}} o
 * @param {AbortSignal} signal
 */
export function picture(root, o, signal) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {Entry[]} */
  let entries = [];
  let axis = axisOf(new Float64Array());
  let selected = "";
  let zoom = 1;
  let drawing = 0;
  /** @type {Lane[]} */
  let lanes = [];
  /** @type {Piece[]} what elements with a number in data-i show */
  let shown = [];

  const parties = el("div", { class: "parties" });
  const plot = el("div", { class: "plot" });
  const cursor = el("div", { class: "cursor", hidden: true });
  const range = el("div", { class: "range", hidden: true });
  const seen = el("div", { class: "seen" }, plot, cursor, range);
  const whole = el("div", { class: "whole" }, seen);
  const tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "slider", "aria-valuemin": 1, "aria-roledescription": w.timeline }, whole);
  const lasts = el("span", { class: "dim" });
  const legend = el("p", { class: "legend small dim" });
  const out = button("−", () => zoomTo(zoom / 2), { class: "small", "aria-label": w.zoomOut });
  const all = button(w.fit, () => zoomTo(1), { class: "small" });
  const into = button("+", () => zoomTo(zoom * 2), { class: "small", "aria-label": w.zoomIn });
  root.append(el("div", { class: "bar small" }, lasts, el("span", { class: "zoom" }, out, all, into)), el("div", { class: "picture" }, parties, scroll, tip), legend);

  let seenWidth = 1; // to ask the browser for each event would take long
  const width = () => (seenWidth = Math.max(1, scroll.clientWidth));
  const full = () => seenWidth * zoom - 2 * pad;
  /** @param {number} at @param {number} left */
  const x = (at, left) => pad + axis.share(at) * full() - left;
  /** @param {number} px from the left of what is seen */
  const shareAt = (px) => (scroll.scrollLeft + px - pad) / full();

  const draw = () => {
    drawing = 0;
    const left = scroll.scrollLeft;
    const W = width();
    shown = [];
    /** @type {HTMLElement[]} */
    const parts = [];
    lanes = [];
    let top = axisHeight;
    for (const row of rows) {
      const height = row.party === "caller" ? heights.caller + trackHeight * row.tracks : heights[row.party];
      lanes.push({ row, top, height, first: undefined, counts: undefined });
      top += height;
    }
    seen.style.width = W + "px";
    seen.style.height = top + "px";
    parts.push(...scaleParts(left, W));
    for (const lane of lanes) {
      const line = el("div", { class: "lane-line" });
      line.style.top = lane.top + "px";
      line.style.height = lane.height + "px";
      parts.push(line, ...wires(lane, left, W), ...ticks(lane, left, W), ...pieces(lane, left, W));
    }
    fill(plot, ...parts);
    showCursor(left);
  };
  const soon = () => { drawing ||= requestAnimationFrame(draw); };

  /** The times of the axis, and its pauses. @param {number} left @param {number} W */
  const scaleParts = (left, W) => [
    ...axis.pauses.map((p) => {
      const e = el("div", { class: "pause" }, p.width * full() > 7 * span(p.lasts).length ? span(p.lasts) : "…");
      e.style.left = pad + p.share * full() - left + "px";
      e.style.width = p.width * full() + "px";
      return e;
    }),
    ...(axis.end > axis.begin ? ticksOf(axis, 76 / full(), Math.max(0, shareAt(-pad)), Math.min(1, shareAt(W))) : []).map((at) => {
      const share = axis.share(at);
      const e = el("div", { class: "at" }, x(at, left) > W - 48 || axis.pauses.some((p) => p.share >= share && p.share - share < 56 / full()) ? "" : span(at - axis.begin));
      e.style.left = x(at, left) + "px";
      return e;
    }),
  ];

  /** The calls of a lane as lines to that of the agent, and back. @param {Lane} lane @param {number} left @param {number} W */
  const wires = (lane, left, W) => {
    const { party, depth, pieces } = lane.row;
    const other = party === "caller" ? lanes.find((l) => l.row.party === "agent") : party === "inner" ? lanes[lanes.indexOf(lane) - 1] && lanes.slice(0, lanes.indexOf(lane)).findLast((l) => l.row.depth < depth && l.row.party !== "caller") : undefined;
    if (!other) return [];
    const drawn = new Set();
    /** @param {number} at @param {boolean} up @param {number} track */
    const wire = (at, up, track) => {
      const px = Math.round(x(at, left));
      if (px < 0 || px > W || drawn.has(px + String(up))) return null;
      drawn.add(px + String(up));
      const e = el("div", { class: "wire" + (up ? " up" : "") });
      const from = party === "caller" ? lane.top + heights.caller / 2 + trackHeight * (track + 1) - 2 : other.top + 30;
      e.style.left = px + "px";
      e.style.top = from + "px";
      e.style.height = (party === "caller" ? other.top + 6 : lane.top + 6) - from + "px";
      return e;
    };
    return pieces.filter((p) => p.kind === "call").flatMap((p) => [wire(p.from, false, p.track ?? 0), p.open || p.bad || p.from === p.to ? null : wire(p.to, true, p.track ?? 0)]).filter((e) => e !== null);
  };

  /** The events of a lane, as one element whose shape is theirs. @param {Lane} lane @param {number} left @param {number} W */
  const ticks = (lane, left, W) => {
    if (lane.row.events.length === 0) return [];
    const places = Math.ceil(W / place) + 1;
    const counts = lane.counts = new Uint32Array(places);
    const first = lane.first = new Int32Array(places);
    let most = 0;
    const { events } = lane.row;
    for (let i = 0; i < events.length; i++) {
      const at = Math.floor(x(events[i].at, left) / place);
      if (at < 0 || at >= places) continue;
      if (counts[at]++ === 0) first[at] = i;
      if (counts[at] > most) most = counts[at];
    }
    const height = lane.row.party === "agent" ? 36 : 10;
    let shape = "";
    for (let at = 0; at < places; at++) {
      if (counts[at] === 0) continue;
      const h = most === 1 ? height * 0.6 : Math.max(3, height * Math.sqrt(counts[at] / most));
      shape += `M${at * place} ${height - h}h2V${height}h-2z`;
    }
    const e = el("div", { class: "ticks" });
    e.style.top = lane.top + lane.height - height - 4 + "px";
    e.style.height = height + "px";
    e.style.clipPath = `path("${shape || "M0 0"}")`;
    return [e];
  };

  /** The bars and marks of a lane. @param {Lane} lane @param {number} left @param {number} W */
  const pieces = (lane, left, W) => {
    /** @type {HTMLElement[]} */
    const parts = [];
    /** @type {Set<string>} what is drawn of the narrow ones */
    const drawn = new Set();
    for (const p of lane.row.pieces) {
      const from = Math.max(-9, x(p.from, left));
      const to = Math.min(W + 9, p.from === p.to ? from : x(p.to, left));
      if (to < -8 || from > W + 8) continue;
      const wide = p.kind === "call" || p.kind === "state";
      const thin = p.kind === "call" && lane.row.party === "inner" && Boolean(p.href);
      const where = p.kind + (p.bad ? "!" : "") + Math.round(from / 2);
      if (to - from < 4) {
        if (drawn.has(where)) continue;
        drawn.add(where);
      }
      const e = el("div", {
        class: `piece is-${p.kind}` + (p.state && states.includes(p.state) ? " " + p.state : "") + (p.bad ? " wrong" : "") + (p.open ? " open" : "") + (thin ? " thin" : ""), "data-i": shown.push(p) - 1,
      }, p.marks?.length && !thin ? el("b", {}, markOf(p)) : null, wide && !thin && to - from > (p.kind === "call" ? 40 : 12 + 7 * p.says.length) ? p.says : null);
      if (p.from !== p.to && x(p.from, left) < -8) e.style.paddingLeft = "14px"; // what it says begins where it is seen
      e.style.left = from + "px";
      e.style.top = lane.top + topOf(lane.row, p) + "px";
      if (wide) e.style.width = Math.max(3, to - from) + "px";
      if (p.kind === "restart" || p.kind === "resumed") e.style.height = lane.height - 4 + "px";
      if (p.kind === "call" && p.head !== undefined) e.style.setProperty("--head", Math.max(0, Math.min(to, x(p.head, left)) - from) + "px");
      parts.push(e);
    }
    return parts;
  };

  const showCursor = (left = scroll.scrollLeft) => {
    const e = entries.find((e) => e.key === selected);
    const px = e ? x(e.at, left) : -1;
    cursor.hidden = px < -1 || px > seenWidth + 1;
    cursor.style.left = px + "px";
  };

  /** @param {number} to @param {number} [at] the pixel that stays where it is */
  const zoomTo = (to, at = cursor.hidden ? width() / 2 : parseFloat(cursor.style.left)) => {
    const share = shareAt(at);
    zoom = Math.min(mostZoom, Math.max(1, to));
    showZoom();
    scroll.scrollLeft = pad + share * full() - at;
    hideTip();
    draw();
  };
  const showZoom = () => {
    whole.style.width = zoom * 100 + "%";
    out.disabled = all.disabled = zoom === 1;
    into.disabled = zoom === mostZoom;
  };

  /** What is at a point of the plot. @param {PointerEvent | MouseEvent} ev @returns {Spot | undefined} */
  const spotAt = (ev) => {
    const box = scroll.getBoundingClientRect();
    const px = ev.clientX - box.left;
    const lane = lanes.find((l) => ev.clientY - box.top >= l.top && ev.clientY - box.top < l.top + l.height);
    const piece = /** @type {HTMLElement | null} */ (/** @type {Element} */ (ev.target).closest("[data-i]"));
    if (piece) return spotOfPiece(shown[Number(piece.dataset.i)], px, lane);
    if (!lane?.counts || !lane.first) return undefined;
    const middle = Math.floor(px / place);
    for (let d = 0; d <= near; d++) {
      for (const at of [middle - d, middle + d]) {
        if (lane.counts[at]) return spotOfTick(lane, at);
      }
    }
    return undefined;
  };
  /** @param {Piece} p @param {number} px @param {Lane | undefined} lane @returns {Spot} */
  const spotOfPiece = (p, px, lane) => ({
    title: p.says, key: p.href ? undefined : p.key, href: p.href, x: px, top: lane?.top ?? 0,
    lines: [`+${span(p.from - axis.begin)}` + (p.to > p.from ? ` · ${p.open ? w.soFar(span(p.to - p.from)) : w.lasts(span(p.to - p.from))}` : ""), p.href ? "" : detail(p.key), ...(p.href ? p.marks ?? [] : [])],
  });
  /** @param {string} [key] */
  const detail = (key) => entries.filter((e) => e.key === key).map((e) => describe(e).text)[0] ?? "";
  /** @param {Lane} lane @param {number} at @returns {Spot} */
  const spotOfTick = (lane, at) => {
    const first = lane.first?.[at] ?? 0;
    const n = lane.counts?.[at] ?? 0;
    const e = lane.row.events[first];
    const d = describe(e);
    const inner = lane.row.party === "inner";
    return {
      title: n > 1 ? w.events(n) : d.what, key: inner ? undefined : e.key, href: inner ? lane.row.href + "/" + e.key : undefined, x: at * place, top: lane.top,
      lines: n > 1 ? [`+${span(e.at - axis.begin)} …`, w.first(d.what), d.text] : [`+${span(e.at - axis.begin)} · ${d.size}`, d.text],
    };
  };
  /** @param {Spot | undefined} s */
  const showTip = (s) => {
    tip.hidden = !s;
    if (!s) return;
    fill(tip, el("strong", {}, s.title), ...s.lines.filter(Boolean).map((l) => el("span", {}, l)));
    const left = scroll.offsetLeft + s.x;
    const room = scroll.offsetLeft + width();
    tip.style.left = Math.max(0, Math.min(left + 10, room - tip.offsetWidth)) + "px";
    tip.style.top = s.top - tip.offsetHeight - 4 + "px";
  };
  const hideTip = () => showTip(undefined);

  /** @type {{x: number, to: number} | undefined} a range that is being dragged */
  let drag;
  scroll.addEventListener("pointerdown", (ev) => {
    if (ev.button === 0 && ev.pointerType !== "touch") drag = { x: ev.clientX, to: ev.clientX };
  });
  scroll.addEventListener("pointermove", (ev) => {
    if (drag && ev.buttons === 0) drag = undefined;
    if (!drag) {
      const spot = spotAt(ev);
      showTip(spot);
      scroll.classList.toggle("hit", Boolean(spot?.key || spot?.href));
      return;
    }
    drag.to = ev.clientX;
    range.hidden = Math.abs(drag.to - drag.x) < dragged;
    if (range.hidden) return;
    if (!scroll.hasPointerCapture(ev.pointerId)) scroll.setPointerCapture(ev.pointerId);
    hideTip();
    range.style.left = Math.min(drag.x, drag.to) - scroll.getBoundingClientRect().left + "px";
    range.style.width = Math.abs(drag.to - drag.x) + "px";
  });
  scroll.addEventListener("pointerleave", hideTip);
  scroll.addEventListener("click", (ev) => {
    const was = range.hidden ? undefined : drag;
    drag = undefined;
    range.hidden = true;
    if (was) {
      const box = scroll.getBoundingClientRect();
      const [from, to] = [Math.min(was.x, was.to) - box.left, Math.max(was.x, was.to) - box.left];
      const share = shareAt(from);
      zoom = Math.min(mostZoom, zoom * width() / (to - from));
      showZoom();
      scroll.scrollLeft = pad + share * full();
      draw();
      return;
    }
    const s = spotAt(ev);
    if (s?.href) location.hash = s.href;
    else if (s?.key) o.select(s.key, "click");
  });
  scroll.addEventListener("wheel", (ev) => {
    if (!ev.ctrlKey && !ev.metaKey) return;
    ev.preventDefault();
    zoomTo(zoom * 2 ** (-ev.deltaY / 200), ev.clientX - scroll.getBoundingClientRect().left);
  }, { passive: false });
  scroll.addEventListener("keydown", (ev) => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const now = entries.findIndex((e) => e.key === selected);
    const to = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, PageDown: now + 10, PageUp: now - 10, Home: 0, End: entries.length - 1 }[ev.key];
    if (to !== undefined && entries.length) {
      ev.preventDefault();
      o.select(entries[Math.max(0, Math.min(to, entries.length - 1))].key, "key");
      tipOfSelected();
      return;
    }
    const zooms = { "+": zoom * 2, "=": zoom * 2, "-": zoom / 2, "−": zoom / 2, 0: 1 }[ev.key];
    if (zooms !== undefined) {
      ev.preventDefault();
      zoomTo(zooms);
    } else if (ev.key === "Escape" && !tip.hidden) {
      ev.preventDefault();
      hideTip();
    } else if (ev.key === "Enter" && entries[now]?.other) {
      const child = childOf(entries[now]);
      if (child) location.hash = child;
    }
  });
  scroll.addEventListener("blur", hideTip);
  const tipOfSelected = () => {
    const e = entries.find((e) => e.key === selected);
    if (!e || cursor.hidden) return;
    const d = describe(e);
    showTip({ title: d.what, lines: [`+${span(e.at - axis.begin)}` + (d.size ? " · " + d.size : ""), d.text], x: parseFloat(cursor.style.left), top: axisHeight });
  };
  const say = () => {
    const i = entries.findIndex((e) => e.key === selected);
    scroll.setAttribute("aria-valuemax", String(Math.max(1, entries.length)));
    scroll.setAttribute("aria-valuenow", String(Math.max(1, i + 1)));
    const d = i >= 0 ? describe(entries[i]) : undefined;
    scroll.setAttribute("aria-valuetext", d ? w.nth(i + 1, entries.length, [d.what, d.text].filter(Boolean).join(": "), span(entries[i].at - axis.begin)) : w.noneChosen);
  };
  let lastLeft = 0;
  scroll.addEventListener("scroll", () => {
    if (scroll.scrollLeft === lastLeft) return;
    lastLeft = scroll.scrollLeft;
    soon();
  }, { passive: true });
  const size = new ResizeObserver(soon);
  size.observe(scroll);
  signal.addEventListener("abort", () => { size.disconnect(); cancelAnimationFrame(drawing); });
  showZoom();

  return {
    /**
     * Shows what is known now.
     * @param {Row[]} newRows
     * @param {Entry[]} newEntries
     */
    show(newRows, newEntries) {
      const seen = axis.at(shareAt(0));
      rows = newRows;
      entries = newEntries;
      axis = axisOf(timesOf(rows));
      if (zoom > 1) scroll.scrollLeft = pad + axis.share(seen) * full();
      fill(parties, ...rows.map(partyLabel));
      const pauses = axis.pauses.length ? w.pauses : "";
      lasts.textContent = [span(axis.end - axis.begin), pauses].filter(Boolean).join(" · ");
      const kinds = new Set(rows.flatMap((r) => r.pieces.flatMap((p) => [p.kind + (p.bad ? "!" : ""), ...(p.marks?.length ? [p.kind + "?"] : [])])));
      const keys = /** @type {[string, string, boolean][]} */ ([
        ["is-waits", w.legend.waits, kinds.has("call") || kinds.has("call!")], ["is-call", w.legend.answer, kinds.has("call") || kinds.has("call!")], ["is-tick", w.legend.event, rows.some((r) => r.events.length > 0)],
        ["is-delivery", w.legend.delivery, kinds.has("delivery")], ["is-refused", w.legend.refused, kinds.has("delivery!")], ["is-restart", w.legend.restart, kinds.has("restart") || kinds.has("resumed")], ["is-mark", w.legend.mark, kinds.has("call?")],
      ]);
      fill(legend, ...keys.filter((k) => k[2]).map(([kind, text]) => el("span", { class: "key " + kind }, text)));
      scroll.setAttribute("aria-label", summary(rows, axis));
      say();
      draw();
    },
    /** Marks an entry, and brings it to where it is seen. @param {string} key */
    select(key) {
      selected = key;
      const e = entries.find((e) => e.key === key);
      const px = e ? x(e.at, scroll.scrollLeft) : 0;
      if (e && zoom > 1 && (px < pad || px > width() - pad)) scroll.scrollLeft += px - width() / 2;
      say();
      showCursor();
    },
  };
}

const states = ["submitted", "working", "input-required", "auth-required", "completed", "failed", "canceled", "rejected"];

/** @param {Row} row @param {Piece} p */
function topOf(row, p) {
  if (p.kind === "call") return row.party === "caller" ? heights.caller / 2 + trackHeight * (p.track ?? 0) : 8;
  return { state: 6, over: 6, restart: 2, resumed: 2, error: 10, delivery: 14, asks: 14 }[p.kind];
}

/** @param {Piece} p */
function markOf(p) {
  const w = words.story;
  return (p.marks?.includes(w.repeat) ? "↻" : "") + (p.marks?.some((m) => m !== w.repeat && m !== w.resumed) ? "!" : p.marks?.includes(w.resumed) ? "↪" : "");
}

/** @param {Row} r */
function partyLabel(r) {
  const e = el("div", { class: "party" }, r.href ? el("a", { href: r.href }, r.label) : el("strong", {}, r.label), el("span", { class: "dim" }, r.says));
  e.style.height = (r.party === "caller" ? heights.caller + trackHeight * r.tracks : heights[r.party]) + "px";
  if (r.depth) e.style.paddingLeft = r.depth * 12 + "px";
  return e;
}

/**
 * The picture in a sentence.
 * @param {Row[]} rows
 * @param {import("./timeline.js").Axis} axis
 */
function summary(rows, axis) {
  const own = rows.find((r) => r.party === "agent");
  const lasts = span(axis.end - axis.begin);
  const deliveries = rows.flatMap((r) => (r.party === "webhook" ? r.pieces : []));
  return w.summary(own?.says ?? "", isOver(own?.says ?? ""), lasts, own?.count ?? 0, rows.filter((r) => r.party === "inner").length, deliveries.length, deliveries.filter((d) => d.bad).length);
}

/** Where the task is that a message to another agent made. @param {Entry} e */
export function childOf(e) {
  const child = [...state.calls.values()].find((c) => c.message === e.other?.call.message);
  return child?.task ? link("tasks", child.agent, child.task) : child ? link("traffic", child.id) : undefined;
}

/**
 * The lanes of a task as they are known now.
 * @param {import("./story.js").Story} story
 */
export function rowsNow(story) {
  return rowsOf(story.agent, story.task, {
    calls: [...state.calls.values()], events: story.events, deliveries: state.deliveries, others: state.others, restarts,
    name: (n) => state.agents.get(n)?.name ?? "agent " + n, now: Date.now(),
  });
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const timelineOfCall = {
  id: "timeline", title: w.timeline,
  show(root, x, signal) {
    const { task } = x;
    if (!task) {
      fill(root, el("p", { class: "dim" }, w.noTask));
      return;
    }
    const box = el("section", { class: "story", "aria-label": w.timeline });
    root.append(box);
    const drawn = picture(box, { select: (key) => go("tasks", x.agent, task, key) }, signal);
    const story = storyOf(x.agent, task, () => changed(), signal);
    const changed = () => { drawn.show(rowsNow(story), story.entries()); drawn.select(String(x.id)); };
    changed();
    on("loaded", changed, signal);
  },
};
