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

// EnvURL returns the name of the environment variable with the URL of a client's agent, for clients that an
// [Opener] opens: A2A_AGENT_WEATHER for the client weather. It differs from all variables with credentials, which begin with A2A_CLIENT_.
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
// none. If the environment has another URL for the agent ([EnvURL]), the agent is called there and nowhere else.
func Open[T any, C interface {
	*T
	Close()
}](o *Opener, to *C, name, card string, open func(ctx context.Context, url string, opts ...Option) (C, error),
) {
	if o.err != nil || *to != nil {
		return
	}
	var where []Option
	switch at := strings.TrimSpace(os.Getenv(EnvURL(name))); {
	case strings.Contains(at, "@"):
		o.err = fmt.Errorf("%s must be a URL without user and password", EnvURL(name)) // which is not in the error
		return
	case at != "":
		where = []Option{Endpoint(at)}
	case card != "":
		where = []Option{CardAt(card)}
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

// Opened returns the function that closes the clients that were opened, or the first error, after closing them.
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
