// @ts-check
// What there is to see of a call. A panel is a module and a line here.
import { bytesPanel } from "./bytes.js";
import { choicePanel } from "./choice.js";
import { logOfCall } from "./tasklog.js";
import { timelineOfCall } from "./timeline.js";

/** @type {import("./views.js").Panel<import("./api.js").Exchange>[]} */
export const callPanels = [bytesPanel, timelineOfCall, logOfCall, choicePanel];
