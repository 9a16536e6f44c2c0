package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// webhook takes push notifications of the agent that is tried. It answers every post with 200 and keeps those to its own paths,
// which only the agent gets.
type webhook struct {
	base   string // the URL that the agent is given, without the path
	server *http.Server
	mu     sync.Mutex
	paths  map[string][]delivery
	came   chan struct{} // closed and replaced when there is one more
}

// delivery is a push notification.
type delivery struct {
	header http.Header
	body   []byte
}

// Bounds of what a webhook takes: bytes of a notification, and notifications of a path.
const (
	maxDelivery   = 1 << 20
	maxDeliveries = 200
)

// listenForPushes starts a webhook on a loopback address, or where the URL of the configuration leads.
func listenForPushes(public string) (*webhook, error) {
	at, base := "127.0.0.1:0", ""
	if public != "" {
		u, err := url.Parse(public)
		if err != nil || u.Scheme != "http" || u.Port() == "" {
			return nil, fmt.Errorf("%q is no URL for a webhook: write http://HOST:PORT, where HOST is this machine as the agent knows it", redacted(public))
		}
		at, base = ":"+u.Port(), strings.TrimRight(u.String(), "/")
		if net.ParseIP(u.Hostname()).IsLoopback() {
			at = u.Host
		}
	}
	ln, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("listen for push notifications: %w", err)
	}
	if base == "" || strings.HasSuffix(at, ":0") { // any port that is free
		base = "http://" + ln.Addr().String()
	}
	w := &webhook{base: base, paths: map[string][]delivery{}, came: make(chan struct{})}
	w.server = &http.Server{Handler: w, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { _ = w.server.Serve(ln) }()
	return w, nil
}

func (w *webhook) close() { _ = w.server.Close() }

// open begins to take notifications at a path and returns its URL.
func (w *webhook) open(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths["/"+path] = []delivery{}
	return w.base + "/" + path
}

func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxDelivery+1))
	if r.Method != http.MethodPost || err != nil || len(body) > maxDelivery {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	if i := strings.LastIndexByte(path, '/'); i > 0 { // the URL of the configuration may have a path
		path = path[i:]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.paths[path]
	if !known || len(list) == maxDeliveries {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	w.paths[path] = append(list, delivery{r.Header.Clone(), body})
	close(w.came)
	w.came = make(chan struct{})
}

// wait returns what has come to a URL as soon as that is enough, or what there is when the time is over.
func (w *webhook) wait(ctx context.Context, target string, enough func([]delivery) bool) []delivery {
	path := target[strings.LastIndexByte(target, '/'):]
	for {
		w.mu.Lock()
		list, came := w.paths[path], w.came
		w.mu.Unlock()
		if enough(list) || ctx.Err() != nil {
			return list
		}
		select {
		case <-came:
		case <-ctx.Done():
		}
	}
}

// listen starts the webhook of a run when it is first needed.
func (r *runner) listen() (err error) {
	switch {
	case r.webhook != nil:
		return nil
	case r.config.Dial != nil:
		return errors.New("the agent is in this process, where webhooks are not listened for")
	case !r.local && r.config.Webhook == "":
		return errors.New("the agent is on another machine, and none of its webhooks would reach this one: name one with --webhook http://HOST:PORT")
	}
	r.webhook, err = listenForPushes(r.config.Webhook)
	return err
}

// deliveries waits for notifications to a webhook.
func (r *runner) deliveries(c pushConfig, enough func([]delivery) bool) []delivery {
	ctx, cancel := context.WithTimeout(r.ctx, r.config.Timeout)
	defer cancel()
	return r.webhook.wait(ctx, c.url, enough)
}
