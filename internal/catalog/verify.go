package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/carddiff"
	"github.com/a2agen/a2agen/internal/project/remote"
)

// VerifyOptions say what is verified beside digests.
type VerifyOptions struct {
	Ref Ref // the zero value is all
	// Signature verifies the signatures of a card with keys that the user trusts; nil: they are not verified.
	Signature func(ctx context.Context, card []byte) (*Signer, error)
	// Live compares the newest card of each name, or the one that Ref names, with what its agent publishes now.
	Live   bool
	Remote remote.Options // for agents that are asked
}

// Verdict is what is true of a card.
type Verdict struct {
	Entry Entry `json:"entry"`
	// Wrong is why the card must not be used: it is damaged, or not signed by a trusted key; "" if nothing is wrong.
	Wrong string `json:"wrong,omitempty"`
	// Problem is why the card could not be read, or its agent not be asked.
	Problem  string  `json:"problem,omitempty"`
	SignedBy *Signer `json:"signedBy,omitempty"` // nil: it is not signed, or was not verified now
	// LiveURL is where the agent was asked, and Drift what its card says that the one of the catalog does not.
	LiveURL string             `json:"liveURL,omitempty"`
	Drift   []carddiff.Finding `json:"drift,omitempty"`
}

// Verify looks at the cards of a catalog: whether each has its digest and is described by the index as it is, whether it
// is signed, and what its agent publishes now.
func (c *Catalog) Verify(ctx context.Context, o VerifyOptions) ([]Verdict, error) {
	entries := c.Index.All()
	if o.Ref.Name != "" {
		e, err := c.Find(o.Ref)
		if err != nil {
			return nil, err
		}
		entries = slices.DeleteFunc(entries, func(k Entry) bool {
			return k.Name != e.Name || o.Ref.Version != "" && k.Version != e.Version
		})
	}
	list := make([]Verdict, len(entries))
	free := make(chan struct{}, cardsAtOnce)
	var all sync.WaitGroup
	for i, e := range entries {
		newest := i == 0 || entries[i-1].Name != e.Name
		list[i].Entry = e
		free <- struct{}{}
		all.Go(func() {
			list[i].verify(ctx, c, o, o.Live && newest)
			<-free
		})
	}
	all.Wait()
	return list, nil
}

// verify fills in what is true of the card.
func (v *Verdict) verify(ctx context.Context, c *Catalog, o VerifyOptions, live bool) {
	src, err := c.Card(ctx, v.Entry)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		v.Wrong = damaged.Why
		return
	case err != nil:
		v.Problem = err.Error()
		return
	}
	imported, _ := card.Import(v.Entry.File, src)
	if imported == nil {
		v.Wrong = "it is no agent card"
		return
	}
	if says := describe(imported, src); !v.Entry.describes(says) {
		v.Wrong = "the index says something else of it than the card does"
		return
	}
	if o.Signature != nil {
		if v.SignedBy, err = o.Signature(ctx, src); err != nil {
			v.Wrong = err.Error()
			return
		}
	}
	if live {
		v.compareLive(ctx, src, imported, o)
	}
}

// describes reports whether an entry says of its card what that says itself.
func (e *Entry) describes(card Entry) bool {
	said := *e
	said.Name, said.File, said.URL, said.SignedBy = card.Name, card.File, card.URL, card.SignedBy
	return reflect.DeepEqual(said.plain(), card.plain())
}

// plain is the entry with empty lists instead of those that are not there.
func (e Entry) plain() Entry {
	e.Skills = append([]Skill{}, e.Skills...)
	for i := range e.Skills {
		e.Skills[i].Tags = append([]string{}, e.Skills[i].Tags...)
	}
	return e
}

// compareLive fetches the card that the agent publishes, and says what is different in it.
func (v *Verdict) compareLive(ctx context.Context, src []byte, imported *card.Card, o VerifyOptions) {
	v.LiveURL = cmp.Or(v.Entry.URL, agentURL(imported))
	if v.LiveURL == "" {
		v.Problem = "neither the catalog nor the card says where its agent is"
		return
	}
	now, info, err := remote.Fetch(ctx, v.LiveURL, o.Remote)
	if err != nil {
		v.Problem = err.Error()
		return
	}
	if o.Signature != nil {
		if _, err := o.Signature(ctx, now); err != nil {
			v.Wrong = fmt.Sprintf("the card that its agent publishes now: %v", err)
			return
		}
	}
	old, _ := carddiff.Read(v.Entry.File, src)
	published, list := carddiff.Read(info.URL, now)
	switch {
	case published == nil:
		v.Problem = fmt.Sprintf("what %s publishes is no agent card: %s", v.LiveURL, list[0].Message)
	case old == nil:
		v.Problem = "the card cannot be compared"
	default:
		v.Drift = carddiff.Diff(old, published)
	}
}

// agentURL is where a card says that its agent is; "" if it does not.
func agentURL(c *card.Card) string {
	for _, i := range c.Interfaces {
		if u, err := url.Parse(i.URL); err == nil && strings.HasPrefix(u.Scheme, "http") && u.Host != "" {
			return u.Scheme + "://" + u.Host
		}
	}
	return ""
}
