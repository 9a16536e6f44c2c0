// Package cards is the page's API about the card of an agent.
//
//	GET  /api/agents/N/published?version=0.3   {"status": 200, "type": "application/json", "text": "…"}: the very card that
//	                                           callers of a version get
//	GET  /api/agents/N/lint                    {"findings": [diag.Diagnostic]}: what callers with the official SDKs cannot do
//	POST /api/agents/N/diff                    project.CardChanges, from the card that {"with": …} names to that of the files:
//	                                           "commit" is that of the last commit, else a URL; {"private": true} allows
//	                                           addresses that are not public
package cards

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/dev/quiet"
	"github.com/a2agen/a2agen/internal/dev/recording"
	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/project"
)

// lastCommit is what a card is compared with that is in git.
const lastCommit = "commit"

// Cards answers.
type Cards struct {
	Tool   project.Tool
	Agents func() []status.Agent
	// Get asks an agent for something, without a record.
	Get func(ctx context.Context, agent int, path string, header http.Header) (*quiet.Answer, error)
}

// agent returns an agent by the number in a request's path. It answers itself if there is none.
func (c *Cards) agent(w http.ResponseWriter, r *http.Request) (a status.Agent, ok bool) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	list := c.Agents()
	if err != nil || n < 0 || n >= len(list) {
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return a, false
	}
	return list[n], true
}

// Published answers with the card as callers of a version get it.
func (c *Cards) Published(w http.ResponseWriter, r *http.Request) {
	a, ok := c.agent(w, r)
	if !ok {
		return
	}
	header := http.Header{}
	if v := r.URL.Query().Get("version"); v != "" {
		header.Set("A2A-Version", v)
	}
	got, err := c.Get(r.Context(), a.Number, recording.CardPath, header)
	if err != nil {
		reply.Refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	reply.JSON(w, map[string]any{"status": got.Status, "type": got.Header().Get("Content-Type"), "text": string(got.Body())})
}

// Lint answers with what callers with the official SDKs cannot do.
func (c *Cards) Lint(w http.ResponseWriter, r *http.Request) {
	a, ok := c.agent(w, r)
	if !ok {
		return
	}
	o := project.LintOptions{Dir: a.Folder}
	if a.To != "" {
		o = project.LintOptions{Target: a.To, AllowPrivate: true} // the command was told that address
	}
	list, err := project.Lint(r.Context(), o)
	if err != nil {
		reply.Refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	list.Sort()
	reply.JSON(w, map[string]any{"findings": append(diag.List{}, list...)}) // never null
}

// Diff answers with what is different in the card.
func (c *Cards) Diff(w http.ResponseWriter, r *http.Request) {
	a, ok := c.agent(w, r)
	if !ok {
		return
	}
	var asked struct {
		With    string `json:"with"`
		Private bool   `json:"private"`
	}
	err := reply.Read(w, r, &asked)
	var changes project.CardChanges
	if err == nil {
		changes, err = c.diff(r.Context(), a, asked.With, asked.Private)
	}
	var invalid *project.InvalidError
	switch {
	case errors.As(err, &invalid):
		var lines []string
		for _, d := range invalid.List {
			lines = append(lines, d.String())
		}
		reply.Refuse(w, http.StatusUnprocessableEntity, "one of the cards is not valid:\n"+strings.Join(lines, "\n"))
	case err != nil:
		reply.Refuse(w, http.StatusUnprocessableEntity, err.Error())
	default:
		reply.JSON(w, changes)
	}
}

// diff compares the card of an agent with an earlier one.
func (c *Cards) diff(ctx context.Context, a status.Agent, with string, private bool) (project.CardChanges, error) {
	o := project.DiffOptions{Options: project.Options{Tool: c.Tool, Dir: a.Folder}, New: a.Folder, AllowPrivate: private}
	if a.To != "" {
		o.New, o.AllowPrivate = a.To, true
	}
	if with != lastCommit {
		u, err := url.Parse(with)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return project.CardChanges{}, errors.New("write the URL of an agent, or of its card, such as https://agent.example.com")
		}
		o.Old = with
		return project.DiffCards(ctx, o)
	}
	if a.Folder == "" {
		return project.CardChanges{}, errors.New("the agent is not made here: there is no commit of its card")
	}
	dir, name, err := checkOut(ctx, a.Folder)
	if err != nil {
		return project.CardChanges{}, err
	}
	defer dir.remove()
	o.Old = string(dir)
	changes, err := project.DiffCards(ctx, o)
	changes.Old.From = name
	return changes, err
}
