package inbox

import (
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/internal/dev/reply"
)

// state is what the page begins with.
type state struct {
	URL        string     `json:"url"`
	Token      string     `json:"token"`
	Answer     Answer     `json:"answer"`
	Deliveries []Delivery `json:"deliveries"`
}

// Serve answers for the whole inbox: GET, PUT with an [Answer], DELETE of what came.
func (b *Inbox) Serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPut:
		var a Answer
		if err := reply.Read(w, r, &a); err != nil {
			reply.Refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if a.Status < http.StatusOK || a.Status > 599 || a.Left < 0 || a.RetryAfter < 0 {
			reply.Refuse(w, http.StatusBadRequest, "the status is from 200 to 599, and no number is negative")
			return
		}
		b.SetAnswer(a)
	case http.MethodDelete:
		b.Clear()
	}
	list := b.List()
	if list == nil {
		list = []Delivery{}
	}
	reply.JSON(w, state{b.URL, b.Token, b.Answer(), list})
}

// ServeOne answers with a delivery and its body.
func (b *Inbox) ServeOne(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	d, ok := b.Get(id)
	if err != nil || !ok {
		reply.Refuse(w, http.StatusNotFound, "this delivery is no longer kept")
		return
	}
	reply.JSON(w, d)
}

// seconds is the value of Retry-After; "" for none.
func seconds(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
