package equivalence

import (
	"slices"

	"github.com/a2agen/a2agen/runtime"
)

// lawful is why a speaker hears something else in a scenario; "" where it must not.
func lawful(sp *speaker, scenario string) string {
	for _, d := range differences {
		if d.of(sp) && slices.Contains(d.scenarios, scenario) {
			return d.reason
		}
	}
	return ""
}

// difference is what versions or a binding do otherwise, and why they may. No names are all.
type difference struct {
	versions  []string
	binding   string
	manner    string
	reason    string
	scenarios []string
}

func (d *difference) of(sp *speaker) bool {
	return (d.versions == nil || slices.Contains(d.versions, sp.version.Name)) && (d.binding == "" || d.binding == sp.binding) &&
		(d.manner == "" || d.manner == sp.manner.name)
}

// Versions that have something in common.
var (
	only10    = []string{"1.0"}
	only01    = []string{"0.1"}
	to02      = []string{"0.2", "0.1"}
	only03    = []string{"0.3"}
	before10  = []string{"0.3", "0.2", "0.1"}
	without01 = []string{"0.3", "0.2"}
)

// differences are all that there are.
var differences = []difference{
	{versions: only01, reason: "a task whose client names it is there before its skill runs: its stream shows it as submitted, then as worked on, " +
		"and says where artifacts stand in it instead of their ids",
		scenarios: []string{"a stream of steps", "a stream of chunks", "a stream of a failure", "a stream that asks", "a stream is taken up again",
			"two subscriptions and a client that leaves", "a task is canceled while it is followed",
			"a stream is taken up again behind an event", "a skill that takes data",
			"an extension is asked for by the frame", "an extension is asked for by a value"}},
	{versions: only01, reason: "a message for another task is another message", scenarios: []string{"a message comes again by a key in its metadata"}},
	{versions: only01, reason: "the task of an error is there already", scenarios: []string{"a skill answers with an error of the protocol"}},
	{binding: runtime.BindingGRPC, reason: "events have no ids: a stream is taken up again with the task as it stands",
		scenarios: []string{"a stream is taken up again", "a stream is taken up again behind an event"}},
	{versions: only01, reason: "there are no answers but tasks: a message completes one",
		scenarios: []string{"a message is answered by a message", "a stream of a message", "extensions are echoed", "an extension is required",
			"a version with a patch number", "no version", "tenants that the card declares"}},
	{versions: only01, reason: "the id of a task that is not there is that of a new one", scenarios: []string{"a message for no task"}},
	{versions: only01, reason: "the card is public", scenarios: []string{"no extended card", "an extended card that is declared alone", "an extended card"}},
	{versions: only01, reason: "a stream ends with the state that waits for its client", scenarios: []string{"a subscription to what waits for its client"}},
	{versions: before10, reason: "a subscription to what has ended shows it and ends", scenarios: []string{"a subscription to what has ended"}},
	{versions: without01, reason: "a stream ends with a final status, also where it has shown the whole task", scenarios: []string{"a message comes again"}},
	{versions: only03, reason: "one error says that there is no extended card, whatever is declared", scenarios: []string{"no extended card"}},
	{versions: without01, reason: "the first push configuration of a task has the task's id", scenarios: []string{"a push configuration gets an id"}},
	{versions: before10, reason: "the version is never said", scenarios: []string{"no version where it has to be said"}},
	{versions: to02, reason: "a length of 0 is no wish", scenarios: []string{"lengths of a history"}},
	{binding: runtime.BindingGRPC, versions: only10, reason: "protobuf cannot tell a field that is missing from an empty one, so that the error has another word",
		scenarios: []string{"no id", "push configurations that are none", "messages without what they need"}},
	{binding: runtime.BindingGRPC, versions: only10, reason: "a service is one of a version: without a word it is the wrong one",
		scenarios: []string{"no version where it has to be said"}},
	{binding: runtime.BindingGRPC, reason: "gRPC itself refuses what is too large, with its own words", scenarios: []string{"a message that is too large"}},
	{manner: schemaManner, reason: "0.3's proto reads a length of 0 as none, also where it is written as its schema has it",
		scenarios: []string{"lengths of a history"}},
	{manner: otherManner, reason: "an error names a field as the request does", scenarios: []string{"requests that are none"}},
	{binding: runtime.BindingHTTP, versions: only10, reason: "a path without an id is another path", scenarios: []string{"no id"}},
}
