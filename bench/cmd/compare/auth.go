package main

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/pass"
	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// guest is a contestant that asks who calls, with calls that say it.
type guest struct {
	title   string
	dir     string // below contestants/
	args    []string
	dialect *load.Dialect
	header  string                            // with the credential; "": none
	bears   func(*pass.Office, string) string // the credential, for the token of the process
	fresh   bool                              // each call bears another one
	tls     bool

	base   int     // who does the same without asking
	most   float64 // × bare more than base, where target is not set; 0 sets none
	target int     // who makes the bare check, of which it may take mostOfCheck; 0: none
}

// Guests that others are compared with, by their places.
const (
	openBare = iota
	openAgent
	openBareTLS
	openAgentTLS
	checkES256
	checkRS256
)

// mostOfCheck is what a new token may cost, as a share of the bare check of its signature.
const mostOfCheck = 1.3

// freshAtATime is how many calls with a credential of their own a phase has at most: to sign takes its time.
const freshAtATime = 300

func bearer(alg string) func(*pass.Office, string) string {
	return func(o *pass.Office, _ string) string { return "Bearer " + o.Token(alg) }
}

// guests in the order of the table.
var guests = []guest{
	openBare:     {title: "bare net/http", dir: "bare", dialect: load.Canned},
	openAgent:    {title: "a2agen, nothing demanded", dir: "a2agen", dialect: load.V1},
	openBareTLS:  {title: "bare net/http over TLS", dir: "bare", dialect: load.Canned, tls: true},
	openAgentTLS: {title: "a2agen over TLS, nothing demanded", dir: "a2agen", dialect: load.V1, tls: true, base: openBareTLS},
	checkES256: {title: "bare net/http and the bare check of a signature, ES256", dir: "bare", args: []string{"-check", pass.ES256}, dialect: load.Canned,
		header: "Authorization", bears: bearer(pass.ES256), fresh: true},
	checkRS256: {title: "bare net/http and the bare check of a signature, RS256", dir: "bare", args: []string{"-check", pass.RS256}, dialect: load.Canned,
		header: "Authorization", bears: bearer(pass.RS256), fresh: true},
	{title: "an API key", dir: "a2agen", args: []string{"-auth", "key"}, dialect: load.V1,
		header: "X-API-Key", bears: func(_ *pass.Office, token string) string { return token }, base: openAgent, most: 0.1},
	{title: "HTTP Basic, seen before", dir: "a2agen", args: []string{"-auth", "basic"}, dialect: load.V1,
		header: "Authorization", bears: basic, base: openAgent},
	{title: "a Bearer token (ES256), seen before", dir: "a2agen", args: []string{"-auth", "jwt"}, dialect: load.V1,
		header: "Authorization", bears: bearer(pass.ES256), base: openAgent, most: 0.3},
	{title: "a new Bearer token, ES256", dir: "a2agen", args: []string{"-auth", "jwt"}, dialect: load.V1,
		header: "Authorization", bears: bearer(pass.ES256), fresh: true, base: openAgent, target: checkES256},
	{title: "a new Bearer token, RS256", dir: "a2agen", args: []string{"-auth", "jwt"}, dialect: load.V1,
		header: "Authorization", bears: bearer(pass.RS256), fresh: true, base: openAgent, target: checkRS256},
	{title: "a client's certificate", dir: "a2agen", args: []string{"-auth", "mtls"}, dialect: load.V1, tls: true, base: openAgentTLS},
	{title: "nothing demanded, an audit log", dir: "a2agen", args: []string{"-observe", "audit"}, dialect: load.V1, base: openAgent},
	{title: "nothing demanded, OpenTelemetry without an SDK", dir: "a2agen", args: []string{"-observe", "otel"}, dialect: load.V1, base: openAgent},
	{title: "nothing demanded, OpenTelemetry with an SDK, spans and metrics", dir: "a2agen", args: []string{"-observe", "sdk"}, dialect: load.V1, base: openAgent},
}

func basic(_ *pass.Office, token string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(pass.User+":"+token))
}

// guestColumns head the table of who calls.
var guestColumns = []string{"CPU of a request, × bare", "more than without, × bare"}

// guestSections measure what it costs to know who calls.
func (b *bench) guestSections() []section {
	return []section{{"auth", b.guestRows}}
}

func (b *bench) guestRows(ctx context.Context) (rows []row, err error) {
	dir, err := os.MkdirTemp(b.bin, "pass")
	if err != nil {
		return nil, err
	}
	office, err := pass.Open(dir)
	if err != nil {
		return nil, err
	}
	var f field
	for _, g := range guests {
		t, err := g.start(ctx, b.bin, dir, office)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f = append(f, t)
	}
	err = f.during(func() error {
		c, err := b.measure(f, job{"auth", work.Message, 0, connections, 1})
		if err != nil {
			return err
		}
		for i := range guests {
			rows = append(rows, guests[i].row(i, c))
		}
		return nil
	})
	return rows, err
}

// start starts the contestant.
func (g *guest) start(ctx context.Context, bin, dir string, office *pass.Office) (*load.Target, error) {
	dialect, secured := g.dialect, (*tls.Config)(nil)
	args := append([]string{"-pass", dir}, g.args...)
	if g.tls {
		secured = office.TLS()
		dialect, args = dialect.Secured(secured), append(args, "-tls")
	}
	p, err := proc.StartSecured(ctx, secured, filepath.Join(bin, g.dir), args...)
	if err != nil {
		return nil, err
	}
	t := &load.Target{Process: p, Name: strings.NewReplacer(" ", "-", "/", "-", ",", "").Replace(g.title), Dialect: dialect}
	if g.header != "" {
		t.Dialect = dialect.Bearing(g.header, g.bears(office, p.Token))
	}
	if g.fresh {
		t.Most, t.Fresh = freshAtATime, func() string { return g.bears(office, p.Token) }
	}
	_, err = t.Send(work.Message, 0, 1, 1) // so that keys are fetched, and passwords known again
	return t, err
}

// row shows what the guest's calls cost beside those of others.
func (g *guest) row(i int, c cost) row {
	bare := openBare
	if g.tls {
		bare = openBareTLS
	}
	r := row{work: g.title, cells: []string{spread(c.time[i].over(c.time[bare]), short), none}, target: none}
	if i == bare {
		r.cells[0] = fmt.Sprintf("1 (%s)", duration(c.time[i].median()))
		return r
	}
	more := c.time[i].beyond(c.time[g.base])
	share := more.over(c.time[bare])
	r.cells[1] = spread(share, short)
	switch {
	case g.target > 0:
		check := c.time[g.target].beyond(c.time[openBare])
		of := more.over(check)
		r.cells[1] += fmt.Sprintf("; %s × the bare check", spread(of, short))
		r.aim(of.median(), mostOfCheck, " × the bare check")
	case g.most > 0:
		r.aim(share.median(), g.most, " × bare")
	}
	return r
}
