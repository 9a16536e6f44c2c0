package client

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/observe"
)

// openTime is how long opening a client may take: it makes no request, unless [VerifyCard] has to get keys.
const openTime = 10 * time.Second

// EnvURL returns the name of the environment variable that says where the agent of a client is, for clients that an
// [Opener] opens: A2A_AGENT_WEATHER for the client weather. It is no variable of the credentials of any client:
// these begin with A2A_CLIENT_.
func EnvURL(client string) string { return "A2A_AGENT_" + envWord(client) }

// Opener opens the clients with which the handlers of an agent call other agents, and closes them together.
// Generated code uses it.
type Opener struct {
	opts   []Option
	opened []func()
	err    error
}

// NewOpener returns an opener of clients that have the observers and the options.
func NewOpener(observers []observe.Observer, opts ...Option) *Opener {
	return &Opener{opts: append([]Option{WithObserver(observers...)}, opts...)}
}

// Open sets *to, unless it is set, to the client of that name, which open makes of the card that it was generated
// from, without a request. card is the URL of that card, by which the client notices that the card changed; "" for
// none. If the environment says that the agent is elsewhere ([EnvURL]), it is called there and nowhere else.
func Open[T any, C interface {
	*T
	Close()
}](o *Opener, to *C, name, card string, open func(ctx context.Context, url string, opts ...Option) (C, error),
) {
	if o.err != nil || *to != nil {
		return
	}
	where, err := located(name, card)
	if err != nil {
		o.err = err
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	c, err := open(ctx, "", slices.Concat(where, []Option{Name(name)}, o.opts)...)
	if err != nil {
		o.err = fmt.Errorf("the client %s: %w (%s says where its agent is)", name, err, EnvURL(name))
		return
	}
	*to, o.opened = c, append(o.opened, c.Close)
}

// located returns the option that says where the agent of a client is, or its card. The error does not have the URL.
func located(name, card string) ([]Option, error) {
	url := strings.TrimSpace(os.Getenv(EnvURL(name)))
	switch {
	case strings.Contains(url, "@"):
		return nil, fmt.Errorf("%s must be a URL without user and password", EnvURL(name))
	case url != "":
		return []Option{Endpoint(url)}, nil
	case card != "":
		return []Option{CardAt(card)}, nil
	}
	return nil, nil
}

// Opened returns what closes the clients that were opened, or the first error; then nothing is left open.
func (o *Opener) Opened() (closeAll func(), err error) {
	closeAll = func() {
		for _, c := range o.opened {
			c()
		}
	}
	if o.err != nil {
		closeAll()
		return nil, o.err
	}
	return closeAll, nil
}
