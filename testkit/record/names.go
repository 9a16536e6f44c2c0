package record

import (
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Kinds of ids, the first part of the names that they get: "task-1".
const (
	kindMessage  = "message"
	kindTask     = "task"
	kindContext  = "context"
	kindArtifact = "artifact"
	kindConfig   = "config" // of push notifications
	kindPage     = "page"   // a token of a list's next page
	kindEvent    = "event"  // of a stream
)

// idMembers are the members that have ids, as plainName has them, in all versions of the protocol.
var idMembers = map[string]string{
	"messageid": kindMessage, "taskid": kindTask, "referencetaskids": kindTask, "contextid": kindContext,
	"sessionid": kindContext, "artifactid": kindArtifact, "pushnotificationconfigid": kindConfig, "configid": kindConfig,
	"pagetoken": kindPage, "nextpagetoken": kindPage,
}

// timeMembers are the members that have times.
var timeMembers = map[string]bool{
	"timestamp": true, "createdat": true, "lastmodified": true, "updatedat": true, "statustimestampafter": true,
	"lastupdatedafter": true,
}

// traceMembers are those of a trace context, which is another each time.
var traceMembers = map[string]bool{"traceparent": true, "tracestate": true}

// collections are the segments of paths with an id behind them, and a member that would have the id.
var collections = map[string]string{"tasks": "taskId", "pushNotificationConfigs": "configId"}

// named are the names that ids get.
var named = regexp.MustCompile(`\b(?:message|task|context|artifact|config|page|event)-[0-9]+\b`)

// isName reports whether a text is such a name.
func isName(s string) bool { return s != "" && named.FindString(s) == s }

// idKind is the kind of id that is at a place; "" for none.
func idKind(at place) string {
	if at.payload {
		return ""
	}
	member := plainName(at.member)
	if kind := idMembers[member]; kind != "" || member != "id" {
		return kind
	}
	switch p := at.parent; {
	case p["url"] != nil, p["taskId"] != nil:
		return kindConfig
	case p["status"] != nil, p["history"] != nil, p["artifacts"] != nil, p["kind"] == "task", at.params:
		return kindTask
	}
	return ""
}

// machineMade reports whether an id was made by a program rather than thought of by a person: a UUID, another long
// row of letters and digits, or a long number.
func machineMade(id string) bool {
	digits, upper, run := 0, 0, 0
	for i := range len(id) {
		switch c := id[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
		default:
			digits, upper, run = 0, 0, -1
		}
		run++
		if run >= 16 && digits > 0 || run >= 20 && digits+upper == run {
			return true
		}
	}
	return uuid.MatchString(id) || len(id) >= 6 && strings.Trim(id, "0123456789") == ""
}

var uuid = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// longestID is the length of the longest id that is looked for within texts, in bytes.
const longestID = 256

// base is the first time of a recording.
var base = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// names are the names of the ids of a recording, and its first time.
type names struct {
	of    map[string]string // id → name
	taken map[string]bool   // ids that are kept as they are
	order []string          // the ids, in the order of their names
	start time.Time
	long  *strings.Replacer // ids that are also replaced within texts
}

// see records an id.
func (n *names) see(kind, id string) {
	switch {
	case n.of[id] != "":
	case machineMade(id):
		n.of[id] = kind
		n.order = append(n.order, id)
	default:
		n.taken[id] = true
	}
}

// seeText records the id or the first time at a place.
func (n *names) seeText(at place, s string) string {
	if kind := idKind(at); kind != "" {
		n.see(kind, s)
	} else if timeMembers[plainName(at.member)] && !at.payload && n.start.IsZero() {
		n.start, _ = time.Parse(time.RFC3339Nano, s)
	}
	return s
}

// text is a text with names in the place of ids.
func (n *names) text(s string) string {
	if name := n.of[s]; name != "" {
		return name
	}
	return n.long.Replace(s)
}

// rewrite is the string at a place with names, and in the time of the recording.
func (n *names) rewrite(at place, s string) string {
	switch member := plainName(at.member); {
	case traceMembers[member]:
		return masked
	case timeMembers[member] && !at.payload:
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		// In whole seconds since the first time: it differs from one recording to the next only if the agent took another time.
		return base.Add(t.Sub(n.start).Truncate(time.Second)).Format("2006-01-02T15:04:05.000Z")
	}
	return n.text(s)
}

// unescaped is a segment of a path without escapes.
func unescaped(segment string) string {
	if s, err := url.PathUnescape(segment); err == nil {
		return s
	}
	return segment
}
