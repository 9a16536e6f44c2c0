package caller

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/runtime"
)

// Known is what the page has to know of an agent.
type Known struct {
	Card       json.RawMessage  `json:"card"` // in the form of 1.0, whatever it was published in
	Interfaces []Interface      `json:"interfaces"`
	Schemas    map[string]Types `json:"schemas"` // of skills, by their ids
	// Extension is that by which a message names its skill; "" if the agent does not know it.
	Extension string `json:"extension,omitempty"`
}

// Interface is a way to call an agent.
type Interface struct {
	Binding string `json:"binding"`
	Version string `json:"version"`
	URL     string `json:"url"`
	Tenant  string `json:"tenant,omitempty"`
}

// Types are the JSON Schemas of a skill, as far as the card has them.
type Types struct {
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Serve answers GET with a [Known].
func (c *Caller) Serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil {
		reply.Refuse(w, http.StatusNotFound, ErrAgent.Error())
		return
	}
	card, _, err := c.Card(r.Context(), n)
	if err != nil {
		refuse(w, err)
		return
	}
	known, err := Knowledge(card)
	if err != nil {
		refuse(w, err)
		return
	}
	reply.JSON(w, known)
}

// Knowledge reads a card.
func Knowledge(card runtime.Card) (*Known, error) {
	src, err := a2awires.Protocol().Versions[0].AppendCard(nil, card)
	if err != nil {
		return nil, err
	}
	k := &Known{Card: src, Interfaces: []Interface{}, Schemas: map[string]Types{}}
	info := card.CardInfo()
	for _, i := range info.Interfaces {
		if spoken(i) {
			k.Interfaces = append(k.Interfaces, Interface{i.Binding, i.Version, i.URL, i.Tenant})
		}
	}
	for _, e := range info.Extensions {
		if !runtime.IsSkillsExtension(e.URI) {
			continue
		}
		k.Extension = e.URI
		var params struct {
			Skills map[string]Types `json:"skills"`
		}
		if json.Unmarshal(e.Params, &params) == nil && params.Skills != nil {
			k.Schemas = params.Skills
		}
	}
	return k, nil
}

// spoken reports whether this command can call an interface.
func spoken(i runtime.Interface) bool {
	p, err := speaking(i.Version)
	return err == nil && p.Versions[0].Over(i.Binding) != nil
}

// ServeCall answers POST of a [Call] with {"call": ID} as soon as it is recorded.
func (c *Caller) ServeCall(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil {
		reply.Refuse(w, http.StatusNotFound, ErrAgent.Error())
		return
	}
	var call Call
	if err := reply.Read(w, r, &call); err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	id, err := c.Start(r.Context(), n, call)
	if err != nil {
		refuse(w, err)
		return
	}
	reply.JSON(w, map[string]int64{"call": id})
}

// ServeStop answers DELETE of a running call.
func (c *Caller) ServeStop(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || !c.Stop(id) {
		reply.Refuse(w, http.StatusNotFound, "the page began no such call")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, ErrAgent) {
		status = http.StatusNotFound
	}
	reply.Refuse(w, status, err.Error())
}
