package copies

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/snippet"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// Copy sends a call in other words.
func (c *Copies) Copy(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // there is no exchange 0
	x, ok := c.Traffic.Get(id)
	if !ok {
		reply.Refuse(w, http.StatusNotFound, "this exchange is no longer kept")
		return
	}
	text, err := c.copy(r, &x)
	if err != nil {
		reply.Refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	reply.JSON(w, map[string]string{"text": text})
}

func (c *Copies) copy(r *http.Request, x *traffic.Exchange) (string, error) {
	as := r.URL.Query().Get("as")
	if as == "curl" {
		return snippet.Curl(x, &snippet.Project{URL: c.Agents()[x.Agent].URL})
	}
	p, err := c.Project(r.Context(), x.Agent)
	if err != nil {
		return "", err
	}
	switch as {
	case "go":
		return snippet.Go(c.conversation(x), p)
	case "test":
		return snippet.Test(c.conversation(x), p)
	}
	return "", errors.New("a call is copied as curl, go or test")
}

// conversation returns the exchanges that sent messages to the task of x, up to x.
func (c *Copies) conversation(x *traffic.Exchange) (list []traffic.Exchange) {
	for _, s := range c.Traffic.List(0, traffic.MaxCalls) {
		if s.ID >= x.ID || x.Task == "" || s.Task != x.Task || s.Agent != x.Agent || !snippet.IsSend(&s) || s.Status != http.StatusOK || s.Outcome == "error" {
			continue
		}
		if earlier, ok := c.Traffic.Get(s.ID); ok {
			list = append(list, earlier)
		}
	}
	return append(list, *x)
}
