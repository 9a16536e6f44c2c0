package faultproxy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/testkit/fault"
)

// Kind is a kind of fault that a person can ask for: a line of "a2agen dev --faults", and a choice on the page of "a2agen dev".
type Kind struct {
	Name, Takes, Usage string
	make               func(value string) (fault.Fault, error)
}

// Kinds are all kinds of faults.
var Kinds = []Kind{
	{"delay", "TIME", "each request waits: 200ms", ofTime(fault.Delay)},
	{"delay-events", "TIME", "each event of a stream waits: 1s", ofTime(fault.DelayEvents)},
	{"slow", "BYTES", "answers come at so many bytes a second", ofNumber(fault.Slow)},
	{"drop", "request|reply", "the connection breaks: before the agent sees the request, or after its work", dropOf},
	{"double", "all|TIMES", "requests are sent twice: of all, or so many: 2", doubleOf},
	{"reorder", "requests|N", "requests overtake one another, or event N of a stream comes after event N+1", reorderOf},
	{"status", "CODE[/PAUSE]", "requests get a status, and do not reach the agent: 503, 429/3s", ofStatus},
	{"cut", "N", "streams break after N events", ofNumber(fault.CutAfter)},
	{"truncate", "N", "any answer breaks after N bytes", ofNumber(fault.Truncate)},
	{"half-close", "N", "streams end after N events, seen by the caller alone; 0: any answer", ofNumber(fault.HalfClose)},
	{"stall", "answer|N", "nothing more comes: no answer at all, or after N events of a stream", stallOf},
	{"drop-event", "N", "event N of a stream is missing", ofNumber(fault.DropEvent)},
	{"double-event", "N", "event N of a stream comes twice", ofNumber(fault.DoubleEvent)},
}

func ofNumber(f func(int) fault.Fault) func(string) (fault.Fault, error) {
	return func(value string) (fault.Fault, error) {
		n, err := strconv.Atoi(value)
		if err != nil {
			return fault.Fault{}, fmt.Errorf("%q is no whole number", value)
		}
		return f(n), nil
	}
}

func ofTime(f func(time.Duration) fault.Fault) func(string) (fault.Fault, error) {
	return func(value string) (fault.Fault, error) {
		d, err := time.ParseDuration(value)
		if err != nil {
			return fault.Fault{}, fmt.Errorf("%q is no time such as 200ms or 3s", value)
		}
		return f(d), nil
	}
}

// ofStatus reads 429, or 429/3s for one that asks for a pause.
func ofStatus(value string) (fault.Fault, error) {
	code, pause, paused := strings.Cut(value, "/")
	made, err := ofNumber(fault.Status)(code)
	if err != nil || !paused {
		return made, err
	}
	d, err := time.ParseDuration(pause)
	if err != nil {
		return made, fmt.Errorf("%q is no time such as 3s", pause)
	}
	return made.RetryAfter(d), nil
}

func dropOf(value string) (fault.Fault, error) {
	switch value {
	case "request":
		return fault.Drop(fault.Request), nil
	case "reply":
		return fault.Drop(fault.Reply), nil
	}
	return fault.Fault{}, fmt.Errorf("%q is neither request nor reply", value)
}

func doubleOf(value string) (fault.Fault, error) {
	if value == "all" {
		return fault.Double(), nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fault.Fault{}, fmt.Errorf("%q is neither all nor a number", value)
	}
	return fault.Double().Times(n), nil
}

func reorderOf(value string) (fault.Fault, error) {
	if value == "requests" {
		return fault.ReorderRequests(), nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fault.Fault{}, fmt.Errorf("%q is neither requests nor the number of an event", value)
	}
	return fault.ReorderEvents(n), nil
}

func stallOf(value string) (fault.Fault, error) {
	if value == "answer" {
		return fault.Stall(), nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fault.Fault{}, fmt.Errorf("%q is neither answer nor a number of events", value)
	}
	return fault.StallAfter(n), nil
}

// Parse reads VALUE[:TIMES][+SKIP][%PERCENT][@OPERATION,...].
func (k Kind) Parse(text string) (fault.Fault, error) {
	rest, operations, on := strings.Cut(text, "@")
	rest, percent, chance := strings.Cut(rest, "%")
	rest, skip, later := strings.Cut(rest, "+")
	value, times, limited := strings.Cut(rest, ":")
	made, err := k.make(value)
	if err != nil {
		return made, err
	}
	if limited {
		if made, err = limit(made, "TIMES", times, made.Times); err != nil {
			return made, err
		}
	}
	if later {
		if made, err = limit(made, "SKIP", skip, made.Skip); err != nil {
			return made, err
		}
	}
	if chance {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil {
			return made, fmt.Errorf("%q is no percentage: write %s %s%%20", percent, k.Name, value)
		}
		made = made.Probability(p / 100)
	}
	if on {
		made = made.On(strings.Split(operations, ",")...)
	}
	_, err = fault.New(0, made)
	return made, err
}

// limit applies a limit that is a number.
func limit(f fault.Fault, what, text string, by func(int) fault.Fault) (fault.Fault, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return f, fmt.Errorf("%s is %q, which is no whole number", what, text)
	}
	return by(n), nil
}
