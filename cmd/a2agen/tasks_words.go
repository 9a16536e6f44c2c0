package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

// told returns the time of an event of a log, and its content in words: "user: hello", "artifact map: …". An event of
// an unknown protocol is returned as it is stored.
func told(row admin.EventRow) (at time.Time, words string) {
	var all []string
	for _, doc := range append(events(row.Messages), row.Event) {
		e := readEvent(row.Protocol, doc)
		if e == nil {
			all = append(all, string(doc))
			continue
		}
		when, said := sayings(e)
		if at = when; said != "" {
			all = append(all, said)
		}
	}
	return at, cut(strings.Join(all, "; "))
}

// events splits a list of events.
func events(list json.RawMessage) (docs []json.RawMessage) {
	if len(list) > 0 && json.Unmarshal(list, &docs) != nil {
		return []json.RawMessage{list}
	}
	return docs
}

// readEvent reads an event of some version of the protocol; nil if it is of none.
func readEvent(version string, doc []byte) any {
	for _, v := range a2awires.Protocol().Versions {
		if v.Name != version {
			continue
		}
		if e, err := v.ReadEvent(doc); err == nil {
			return runtime.Generated(e)
		}
	}
	return nil
}

// sayings returns the time of an event, if it has one, and its content.
func sayings(e any) (at time.Time, words string) {
	switch e := e.(type) {
	case *a2awires.Task:
		var all []string
		for _, m := range e.History {
			all = append(all, said(m))
		}
		for _, a := range e.Artifacts {
			all = append(all, made(a))
		}
		at, words = status(e.Status)
		return at, joined(append(all, words))
	case *a2awires.TaskStatusUpdateEvent:
		return status(e.Status)
	case *a2awires.TaskArtifactUpdateEvent:
		return at, made(e.Artifact)
	case *a2awires.Message:
		return at, said(e)
	}
	return at, ""
}

func status(s *a2awires.TaskStatus) (at time.Time, words string) {
	if s == nil {
		return at, ""
	}
	return s.Timestamp, said(s.Message)
}

// said returns a message with its sender.
func said(m *a2awires.Message) string {
	if m == nil {
		return ""
	}
	who := "agent: "
	if m.Role == a2awires.RoleUser {
		who = "user: "
	}
	return who + parts(m.Parts)
}

// made returns an artifact, or a chunk of one.
func made(a *a2awires.Artifact) string {
	if a == nil {
		return ""
	}
	name := a.Name
	if name == "" {
		name = a.ArtifactID
	}
	return "artifact " + plain(name) + ": " + parts(a.Parts)
}

// parts returns the content of a message or an artifact in one line.
func parts(list []*a2awires.Part) string {
	var all []string
	for _, p := range list {
		if p == nil {
			continue
		}
		switch c := p.Content.(type) {
		case a2awires.PartText:
			all = append(all, plain(string(c)))
		case a2awires.PartData:
			var b bytes.Buffer
			if json.Compact(&b, c) != nil {
				b.Write(c)
			}
			all = append(all, b.String())
		case a2awires.PartRaw:
			all = append(all, "file "+plain(p.Filename)+" ("+size(int64(len(c)))+")")
		case a2awires.PartURL:
			all = append(all, plain(string(c)))
		}
	}
	return strings.Join(all, " ")
}

// joined joins texts that are not empty.
func joined(all []string) string {
	var some []string
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return strings.Join(some, "; ")
}
