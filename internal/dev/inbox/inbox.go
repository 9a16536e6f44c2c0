// Package inbox is a webhook for push notifications that a person looks at: it keeps what agents send, says whether it
// is signed well, and refuses it when that is to be tried.
package inbox

import (
	"crypto/subtle"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/runtime"
)

// Limits of what is kept.
const (
	MostDeliveries = 500
	MaxBytes       = 16 << 20 // of all bodies
	maxBody        = 24 << 20 // of one, more is refused
)

// Delivery is a request that came to the webhook.
type Delivery struct {
	ID           int64       `json:"id"` // from 1
	At           time.Time   `json:"at"`
	Path         string      `json:"path,omitempty"` // behind the address
	Header       http.Header `json:"header"`         // secrets are masked
	Body         []byte      `json:"body,omitempty"` // base64; not in lists
	Size         int         `json:"size"`           // of the body, as it came
	Version      string      `json:"version,omitempty"`
	Notification string      `json:"notification,omitempty"` // its id, the same on every repeat
	Config       string      `json:"config,omitempty"`
	Sequence     string      `json:"sequence,omitempty"`
	Repeat       bool        `json:"repeat,omitempty"` // a notification of this id came before
	Token        Check       `json:"token"`
	Signature    Signature   `json:"signature"`
	Status       int         `json:"status"` // that it was answered with
	traffic.Digest
}

// Check is what came of looking at something.
type Check string

// What comes of it.
const (
	Absent Check = "absent"
	Good   Check = "good"
	Bad    Check = "bad"
)

// Signature is what came of checking a signature.
type Signature struct {
	Check  Check  `json:"check"`
	Issuer string `json:"issuer,omitempty"` // as the signature names it
	Agent  string `json:"agent,omitempty"`  // the URL of the agent whose key it is
	Why    string `json:"why,omitempty"`    // it is bad
}

// Answer is what deliveries are answered with.
type Answer struct {
	Status     int `json:"status"`               // 200 to 599
	Left       int `json:"left,omitempty"`       // how many; then it is 200 again. 0: all
	RetryAfter int `json:"retryAfter,omitempty"` // seconds that the header asks for; 0: no header
}

// Inbox is a webhook. Its fields must be set before the first request.
type Inbox struct {
	URL   string // under which agents find it; its path is the secret by which they are known
	Token string // for configurations
	Feed  *live.Feed
	// Agents are the URLs of agents whose keys are good.
	Agents func() []string

	mu     sync.Mutex
	kept   []Delivery // the oldest first
	bytes  int
	last   int64
	answer Answer
	checks map[string]checker // by agent and audience
}

// ServeHTTP takes a delivery.
func (b *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secret, behind := b.below(r.URL.Path)
	switch {
	case !secret || r.Header.Get("Origin") != "":
		http.Error(w, "there is no webhook here", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "this is a webhook of a2agen dev: push notifications come by POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the notification broke off, or is over 24 MiB", http.StatusRequestEntityTooLarge)
		return
	}
	d := b.read(r, behind, body)
	d.Signature = b.verify(r, body, strings.TrimSuffix(b.URL, "/")+behind)
	retry := b.keep(&d)
	if retry != "" {
		w.Header().Set("Retry-After", retry)
	}
	if d.Status >= http.StatusBadRequest {
		http.Error(w, "refused on purpose, as the page of a2agen dev says", d.Status)
		return
	}
	w.WriteHeader(d.Status)
}

// below reports whether a path is the webhook's, and what is behind that.
func (b *Inbox) below(path string) (ours bool, behind string) {
	u, err := url.Parse(b.URL)
	if err != nil || len(path) < len(u.Path) {
		return false, ""
	}
	behind = path[len(u.Path):]
	ours = subtle.ConstantTimeCompare([]byte(path[:len(u.Path)]), []byte(u.Path)) == 1
	return ours && (behind == "" || behind[0] == '/'), behind
}

// read reads a delivery.
func (b *Inbox) read(r *http.Request, behind string, body []byte) Delivery {
	d := Delivery{At: time.Now(), Path: behind, Size: len(body), Token: Absent}
	d.Header, d.Body, d.Digest = traffic.Notification(r.Header, body)
	h := d.Header
	d.Version, d.Notification, d.Sequence = h.Get("A2A-Version"), h.Get(runtime.PushIDHeader), h.Get(runtime.PushSequenceHeader)
	d.Config = unescaped(h.Get(runtime.PushConfigHeader))
	if task := unescaped(h.Get(runtime.PushTaskHeader)); task != "" {
		d.Task = task
	}
	for _, name := range []string{runtime.PushTokenHeader, runtime.PushTokenHeaderToo} {
		switch shown := r.Header.Get(name); {
		case shown == "":
		case subtle.ConstantTimeCompare([]byte(shown), []byte(b.Token)) == 1:
			d.Token = Good
		case d.Token == Absent:
			d.Token = Bad
		}
	}
	return d
}

// unescaped is an id of a header.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// keep keeps a delivery, and says how it is answered.
func (b *Inbox) keep(d *Delivery) (retryAfter string) {
	b.mu.Lock()
	b.last++
	d.ID, d.Status = b.last, http.StatusOK
	if a := b.answer; a.Status != 0 {
		d.Status, retryAfter = a.Status, seconds(a.RetryAfter)
		if a.Left == 1 {
			b.answer = Answer{}
		} else if a.Left > 1 {
			b.answer.Left--
		}
	}
	d.Repeat = d.Notification != "" && slices.ContainsFunc(b.kept, func(k Delivery) bool {
		return k.Notification == d.Notification && k.Config == d.Config
	})
	b.kept, b.bytes = append(b.kept, *d), b.bytes+len(d.Body)
	for len(b.kept) > MostDeliveries || b.bytes > MaxBytes && len(b.kept) > 1 {
		b.bytes -= len(b.kept[0].Body)
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	b.mu.Unlock()
	told := *d
	told.Body = nil
	b.Feed.Publish("delivery", told)
	return retryAfter
}

// List returns what is kept, the oldest first, without the bodies.
func (b *Inbox) List() []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.kept)
	for i := range list {
		list[i].Body = nil
	}
	return list
}

// Get returns a delivery, if it is still kept.
func (b *Inbox) Get(id int64) (Delivery, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.kept, func(d Delivery) bool { return d.ID == id })
	if i < 0 {
		return Delivery{}, false
	}
	return b.kept[i], true
}

// Clear forgets what came.
func (b *Inbox) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.bytes = nil, 0
}

// Answer returns what the next delivery is answered with.
func (b *Inbox) Answer() Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.answer
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return a
}

// SetAnswer says what the next deliveries are answered with.
func (b *Inbox) SetAnswer(a Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = a
}
