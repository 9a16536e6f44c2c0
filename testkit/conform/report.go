package conform

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Outcome is what became of a check.
type Outcome string

// The outcomes.
const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"
	NotTried Outcome = "not tried"
)

// Report is what was found out about an agent.
type Report struct {
	URL        string      `json:"url"`
	Agent      string      `json:"agent"` // its name
	Interfaces []Interface `json:"interfaces"`
	Results    []Result    `json:"results"`
	Requests   int         `json:"requests"` // how many were made
}

// Interface is one that the card lists.
type Interface struct {
	URL     string `json:"url"`
	Binding string `json:"binding"`
	Version string `json:"version"` // "1.0"
	Tenant  string `json:"tenant,omitempty"`
	// NotTried says why it was not; empty: it was.
	NotTried string `json:"notTried,omitempty"`
}

func (i Interface) String() string { return i.Version + " " + i.Binding }

// Result is what became of a check on the card, on an interface or on the agent as a whole.
type Result struct {
	Check        string   `json:"check"`
	On           string   `json:"on"` // "card", "agent", or an interface: "1.0 JSONRPC"
	Outcome      Outcome  `json:"outcome"`
	Level        Level    `json:"level"`
	Requirements []string `json:"requirements"`
	Section      string   `json:"section"`
	Sentence     string   `json:"sentence"`
	// Differ says how official releases differ among themselves.
	Differ string `json:"officialReleases,omitempty"`
	// Reason is why it was not tried.
	Reason   string    `json:"reason,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"moreFindings,omitempty"` // how many are left out
}

// Finding is one thing that was wrong. Secrets are masked, and what is long is cut.
type Finding struct {
	Problem string `json:"problem"`
	Sent    string `json:"sent,omitempty"`
	Came    string `json:"came,omitempty"`
}

// Count returns how many checks had an outcome.
func (r *Report) Count(o Outcome, l Level) (n int) {
	for _, x := range r.Results {
		if x.Outcome == o && x.Level == l {
			n++
		}
	}
	return n
}

// Tried reports whether anything could be tried on an interface.
func (r *Report) Tried() bool {
	for _, i := range r.Interfaces {
		if i.NotTried == "" {
			return true
		}
	}
	return false
}

// WriteText prints the report for people: what failed with what was sent and what came, what was not tried and why, and the numbers.
func (r *Report) WriteText(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s at %s\n", r.Agent, r.URL)
	for _, i := range r.Interfaces {
		fmt.Fprintf(b, "  %s at %s", i, i.URL)
		if i.NotTried != "" {
			fmt.Fprintf(b, ": not tried: %s", i.NotTried)
		}
		b.WriteString("\n")
	}
	for _, level := range []Level{Must, Should} {
		for _, x := range r.Results {
			if x.Outcome == Failed && x.Level == level {
				fmt.Fprintf(b, "\n%s\n", x)
			}
		}
	}
	var reasons []string
	untried := map[string][]string{}
	for _, x := range r.Results {
		if x.Outcome == NotTried {
			if untried[x.Reason] == nil {
				reasons = append(reasons, x.Reason)
			}
			untried[x.Reason] = append(untried[x.Reason], x.Check+" ("+x.On+")")
		}
	}
	for _, reason := range reasons {
		few, more := untried[reason], ""
		if len(few) > 4 {
			few, more = few[:4], fmt.Sprintf(" and %d more", len(few)-4)
		}
		fmt.Fprintf(b, "\nnot tried: %s\n  %s%s\n", reason, strings.Join(few, ", "), more)
	}
	fmt.Fprintf(b, "\nMUST: %d passed, %d failed. SHOULD: %d passed, %d failed. Not tried: %d. %d requests.\n",
		r.Count(Passed, Must), r.Count(Failed, Must), r.Count(Passed, Should), r.Count(Failed, Should),
		r.Count(NotTried, Must)+r.Count(NotTried, Should), r.Requests)
	_, err := io.WriteString(w, b.String())
	return err
}

// String is a result for people: what was asked for, and what was wrong.
func (x Result) String() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s %s, %s: %s\n", x.Level, x.Check, x.On, x.Sentence)
	fmt.Fprintf(b, "  %s (%s)\n", x.Section, strings.Join(x.Requirements, ", "))
	for _, f := range x.Findings {
		fmt.Fprintf(b, "  %s\n", f.Problem)
		indented(b, "    sent ", f.Sent)
		indented(b, "    came ", f.Came)
	}
	if x.More > 0 {
		fmt.Fprintf(b, "  and %d more like these\n", x.More)
	}
	if x.Differ != "" {
		fmt.Fprintf(b, "  Official releases differ: %s\n", x.Differ)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indented(b *strings.Builder, prefix, text string) {
	if text != "" {
		b.WriteString(prefix + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(prefix))) + "\n")
	}
}

// WriteJSON prints the report as one JSON object: its shape is that of [Report].
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// The elements of JUnit's report that CI systems read.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit prints the report as JUnit XML: a suite for the card and for each interface. A SHOULD that is not kept is no failure
// there: its case passes, with the finding as output.
func (r *Report) WriteJUnit(w io.Writer) error {
	var all junitSuites
	at := map[string]int{}
	for _, x := range r.Results {
		if _, ok := at[x.On]; !ok {
			at[x.On] = len(all.Suites)
			all.Suites = append(all.Suites, junitSuite{Name: x.On})
		}
		s := &all.Suites[at[x.On]]
		s.Tests++
		c := junitCase{Name: x.Check, Class: "a2a." + strings.ReplaceAll(x.On, " ", ".")}
		switch {
		case x.Outcome == NotTried:
			s.Skipped++
			c.Skipped = &junitMessage{Message: x.Reason}
		case x.Outcome == Failed && x.Level == Must:
			s.Failures++
			c.Failure = &junitMessage{Message: x.Sentence, Text: x.String()}
		case x.Outcome == Failed:
			c.Out = x.String()
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
