package record

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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

// collections are the segments of paths behind which an id is.
var collections = map[string]string{"tasks": kindTask, "pushNotificationConfigs": kindConfig}

// memberBehind is a member that would have the id behind a segment of a path; "" for none.
func memberBehind(segment string) string {
	switch collections[segment] {
	case kindTask:
		return "taskId"
	case kindConfig:
		return "configId"
	}
	return ""
}

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
	return isUUID(id) || len(id) >= 6 && strings.Trim(id, "0123456789") == ""
}

// isUUID reports whether a text has a UUID in it.
func isUUID(s string) bool { return uuid.MatchString(s) }

var uuid = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// longestID is the length of the longest id that is looked for within texts, in bytes.
const longestID = 256

// base is the first time of a recording.
var base = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// names are the names of the ids of a recording, and its first time.
type names struct {
	of    map[string]string // id → name
	taken map[string]bool   // ids that are kept as they are
	last  map[string]int    // number of the last name of a kind
	order []string          // the ids, in the order of their names
	start time.Time
	long  *strings.Replacer // ids that are also replaced within texts
}

func newNames() *names {
	return &names{of: map[string]string{}, taken: map[string]bool{}, last: map[string]int{}}
}

// see takes note of an id.
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

// seeText takes note of the string at a place.
func (n *names) seeText(at place, s string) string {
	if kind := idKind(at); kind != "" {
		n.see(kind, s)
	} else if timeMembers[plainName(at.member)] && !at.payload && n.start.IsZero() {
		n.start, _ = time.Parse(time.RFC3339Nano, s)
	}
	return s
}

// seePath takes note of the ids in a path.
func (n *names) seePath(path string) {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		if kind := collections[segments[i]]; kind != "" {
			id, _, _ := strings.Cut(unescaped(s), ":")
			n.see(kind, id)
		}
	}
}

// seeQuery takes note of the ids in a query.
func (n *names) seeQuery(query url.Values) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, v := range query[name] {
			n.seeText(place{member: name}, v)
		}
	}
}

// give gives every id its name, when all of them are known.
func (n *names) give() {
	var pairs []string
	for _, id := range n.order {
		kind := n.of[id]
		name := ""
		for name == "" || n.taken[name] {
			n.last[kind]++
			name = kind + "-" + strconv.Itoa(n.last[kind])
		}
		n.of[id] = name
		if len(id) >= 16 && len(id) <= longestID {
			pairs = append(pairs, id, name)
		}
	}
	n.long = strings.NewReplacer(pairs...)
}

// text is a text with names in the place of ids.
func (n *names) text(s string) string {
	if name := n.of[s]; name != "" {
		return name
	}
	return n.long.Replace(s)
}

// path is a path with names in the place of ids.
func (n *names) path(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		id, verb, found := strings.Cut(s, ":")
		if name := n.of[unescaped(id)]; name != "" && found {
			segments[i+1] = name + ":" + verb
		} else if name != "" {
			segments[i+1] = name
		}
	}
	return n.long.Replace(strings.Join(segments, "/"))
}

// query is a query with names in the place of ids, and in the time of the recording.
func (n *names) query(q url.Values) url.Values {
	for name, values := range q {
		for i, v := range values {
			values[i] = n.rewrite(place{member: name}, v)
		}
	}
	return q
}

// rewrite is the string at a place with names, and in the time of the recording.
func (n *names) rewrite(at place, s string) string {
	switch member := plainName(at.member); {
	case traceMembers[member]:
		return masked
	case timeMembers[member] && !at.payload:
		return n.time(s)
	}
	return n.text(s)
}

// time is a time in whole seconds since that of the first, so that it differs from one recording to the next only if
// the agent took another time.
func (n *names) time(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return base.Add(t.Sub(n.start).Truncate(time.Second)).Format("2006-01-02T15:04:05.000Z")
}

// unescaped is a segment of a path without escapes.
func unescaped(segment string) string {
	if s, err := url.PathUnescape(segment); err == nil {
		return s
	}
	return segment
}
