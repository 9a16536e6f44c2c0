// Package bridge serves the skills of any agent that has a card to a host of the Model Context Protocol (MCP), over
// standard input and output.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/internal/talk"
	"github.com/a2agen/a2agen/runtime/mcp"
)

// Options say which agent is served to whom.
type Options struct {
	Target       string // URL of the agent or of its card, or a project's folder
	AllowPrivate bool   // call private addresses and loopback, too
	Token        string // a bearer token, for the host of the agent alone
	Headers      []string
	Again        string // the command that calls the agent, for people

	In  io.Reader
	Out io.Writer // gets nothing but MCP
	Err io.Writer
}

// maxLine is how long a message of the host may be, in bytes: as much as a request of A2A.
const maxLine = 16 << 20

// Serve serves until the host closes the connection or ctx ends, which are no errors.
func Serve(ctx context.Context, o Options) error {
	at, err := talk.Address(o.Target)
	if err != nil {
		return err
	}
	if u, err := url.Parse(at); err == nil && u.User != nil {
		return errors.New("the agent's URL holds credentials: give them by --header or A2A_TOKEN")
	}
	limits := remote.Options{AllowPrivate: o.AllowPrivate || !strings.Contains(o.Target, "://")} // a project's agent is on this machine
	called := talk.Options{Target: o.Target, Token: o.Token, Headers: o.Headers, Again: o.Again, Err: o.Err}
	if !limits.AllowPrivate {
		called.HTTP = &http.Client{Transport: remote.Client(limits).Transport}
	}
	agent, err := talk.Dial(ctx, called)
	if err != nil {
		return err
	}
	defer agent.Client.Close()
	c, err := readCard(ctx, agent, at, limits)
	if err != nil {
		return err
	}
	skills := skillsOf(c)
	server := mcp.NewServer(mcp.Options{
		Name: c.Name, Version: c.Version, Description: c.Description, Skills: skills, Client: agent.Client, Protocol: a2awires.Protocol(),
		Failed: func(tool string, err error) { fmt.Fprintf(o.Err, "a2agen: %s: %v\n", tool, agent.Explain(err)) },
	})
	fmt.Fprintf(o.Err, "a2agen: serving %.80q over MCP, with %s\n", c.Name, count(len(skills)))
	err = server.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(o.In), Writer: open{o.Out}, MaxLineLength: maxLine})
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the MCP host: %w", err)
}

func count(tools int) string {
	if tools == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", tools)
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }
