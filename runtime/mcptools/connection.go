package mcptools

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection is one to a server, which all calls share.
type connection struct {
	server  *Server
	target  string
	session *sdk.ClientSession
	trips   *roundTrips   // nil: of a command
	process *process      // nil: of a URL
	gone    chan struct{} // closed when the connection is

	mu    sync.Mutex
	calls map[string]*running // by id
}

// connection returns the connection to the server, and makes one if there is none.
func (s *Server) connection(ctx context.Context) (*connection, error) {
	if err := s.lock.take(ctx); err != nil {
		return nil, err
	}
	defer s.lock.release()
	if c := s.current; c != nil {
		if c.alive() && c.target == s.target() {
			return c, nil
		}
		go c.close()
		s.current = nil
	}
	c, err := s.connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	s.current = c
	return c, nil
}

// drop forgets a connection that is of no use.
func (s *Server) drop(ctx context.Context, c *connection) {
	if s.lock.take(ctx) != nil {
		return
	}
	defer s.lock.release()
	if s.current == c {
		s.current = nil
		go c.close()
	}
}

// connect makes a connection. tap sees what the server says; nil: nobody does.
func (s *Server) connect(ctx context.Context, tap *tap) (*connection, error) {
	target := s.target()
	c, err := s.dial(ctx, tap, s.sse == target && target != "")
	if err == nil || c == nil || c.trips == nil || !c.trips.older() {
		return c, s.unreachable(c, err)
	}
	older, again := s.dial(ctx, tap, true)
	if again != nil {
		return nil, s.unreachable(c, err)
	}
	s.sse = target
	return older, nil
}

// dial makes a connection over one transport. With an error the connection tells of it, and is closed.
func (s *Server) dial(ctx context.Context, tap *tap, sse bool) (*connection, error) {
	c := &connection{server: s, target: s.target(), gone: make(chan struct{}), calls: map[string]*running{}}
	transport, err := c.transport(tap, sse)
	if err != nil {
		return nil, err
	}
	// The session goes on after the call that needed it first.
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	c.session, err = c.client().Connect(long, transport, nil)
	if !stop() && err == nil {
		_ = c.session.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		if c.process != nil {
			c.process.close()
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return c, err
	}
	go func() {
		defer cancel()
		_ = c.session.Wait()
		_ = c.session.Close()
		close(c.gone)
	}()
	return c, nil
}

// transport is how the server is reached.
func (c *connection) transport(tap *tap, sse bool) (sdk.Transport, error) {
	at := c.server.url()
	if at == "" && len(c.server.Command) > 0 {
		var err error
		if c.process, err = c.server.start(); err != nil {
			return nil, err
		}
		return c.process.transport(tap), nil
	}
	u, err := url.Parse(at)
	switch {
	case at == "" && c.server.URLEnv != "":
		return nil, fmt.Errorf("%w: set %s", errNowhere, c.server.URLEnv)
	case at == "":
		return nil, errNowhere
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("its address is no http or https URL")
	}
	client, trips, err := c.server.httpClient(tap)
	if err != nil {
		return nil, err
	}
	c.trips, trips.host, trips.sse = trips, u.Host, sse
	if sse {
		return &sdk.SSEClientTransport{Endpoint: at, HTTPClient: client, MaxEventSize: defaultMaxBytes}, nil
	}
	return &sdk.StreamableClientTransport{Endpoint: at, HTTPClient: client, MaxEventSize: defaultMaxBytes}, nil
}

// client is the MCP client of a connection. Roots and sampling are not for handlers to give.
func (c *connection) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "a2agen", Version: "1"}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ElicitationHandler:          c.elicit,
		ProgressNotificationHandler: c.progress,
	})
}

func (c *connection) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// close ends the connection, and with it the calls that are made over it.
func (c *connection) close() {
	_ = c.session.Close()
}

// unreachable says why a server cannot be called; nil for no error.
func (s *Server) unreachable(c *connection, err error) error {
	var missing *CredentialError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &missing):
		return err
	case c != nil && c.trips != nil && c.trips.refused():
		return &RefusedError{Server: s.Name, Status: int(c.trips.status.Load())}
	}
	u := &UnreachableError{Server: s.Name, Err: withoutURL(err)}
	if c != nil && c.process != nil {
		u.Stderr = c.process.errors.String()
	}
	return u
}
