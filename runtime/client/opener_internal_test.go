package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/observe"
)

// opened is a client as an [Opener] opens it: what its options made of it.
type opened struct {
	*Client
	url    string
	closes int
}

func (o *opened) Close() { o.closes++ }

func openStub(ctx context.Context, url string, opts ...Option) (*opened, error) {
	c := &Client{cards: new(cards), links: linkSet{all: []*link{{}}}}
	for _, o := range opts {
		o(c)
	}
	if _, ends := ctx.Deadline(); !ends {
		return nil, errors.New("it may take forever")
	}
	return &opened{Client: c, url: url}, c.fault
}

type nobody struct{}

func (nobody) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }
func (nobody) End(context.Context, *observe.Activity)                         {}

// TestAnAgentThatMovesKeepsItsName: calls that were made before a restart are found again after it, wherever the
// agent is by then.
func TestAnAgentThatMovesKeepsItsName(t *testing.T) {
	const card = "https://weather.example"
	open := func() (c *opened) {
		o := NewOpener([]observe.Observer{nobody{}}, Reattach(7))
		Open(o, &c, "weather", card, openStub)
		if _, err := o.Opened(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := open()
	switch {
	case before.url != "", before.cards.base != card, before.links.endpoint != "", before.reattach != 7, len(before.observers.List) == 0:
		t.Errorf("got %+v, want a client of the pinned card, with observer and option", before)
	}
	t.Setenv("A2A_AGENT_WEATHER", " https://elsewhere.example/a2a ")
	moved := open()
	if moved.links.endpoint != "https://elsewhere.example/a2a" || moved.cards.base != "" {
		t.Errorf("got %+v, want the URL of the environment alone", moved)
	}
	if before.identity() != moved.identity() {
		t.Errorf("it is called %q, and %q when it has moved", before.identity(), moved.identity())
	}
}

func TestOpenedClientsAreClosedTogether(t *testing.T) {
	mine := new(opened)
	given, made := mine, (*opened)(nil)
	o := NewOpener(nil)
	Open(o, &given, "mine", "", openStub)
	Open(o, &made, "made", "", openStub)
	closeAll, err := o.Opened()
	if err != nil || given != mine || made == nil {
		t.Fatalf("got %v, %v, %v", given, made, err)
	}
	closeAll()
	if made.closes != 1 || mine.closes != 0 {
		t.Errorf("closed %d times, and one that was set before %d times", made.closes, mine.closes)
	}
}

func TestAClientThatCannotBeOpenedClosesTheOthers(t *testing.T) {
	var first, second *opened
	o := NewOpener(nil)
	Open(o, &first, "first", "", openStub)
	t.Setenv("A2A_AGENT_SECOND", "https://me:secret@second.example")
	Open(o, &second, "second", "", openStub)
	_, err := o.Opened()
	if err == nil || !strings.Contains(err.Error(), "A2A_AGENT_SECOND") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error that names the variable, without the password", err)
	}
	if first.closes != 1 || second != nil {
		t.Errorf("closed %d times, %v", first.closes, second)
	}
}

// TestTheURLOfAnAgentIsNoCredential: no card can name a scheme so that its variable is that of a URL.
func TestTheURLOfAnAgentIsNoCredential(t *testing.T) {
	for _, client := range []string{"", "agent", "weather", "url"} {
		for _, scheme := range []string{"url", "agent_url", "../a2a_agent", "weather"} {
			if name := EnvName(client, scheme, ""); strings.HasPrefix(name, EnvURL("")) {
				t.Errorf("the scheme %q of %q has the variable %s", scheme, client, name)
			}
		}
	}
}
