package mcp_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

func invalid(pointer, message string) error {
	return server.InvalidInput(&check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}})
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// broken is a client of an agent whose connections break.
func broken(t *testing.T) *rpc.Client {
	t.Helper()
	reached := false
	c, err := rpc.New(t.Context(), a2a.Protocol(), "http://agent.test/", rpc.HTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		if reached {
			return nil, errors.New("agent.test: connection refused")
		}
		reached = true
		card := `{"name":"t","description":"d","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],
			"supportedInterfaces":[{"url":"http://agent.test/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(card)), Request: r, Header: http.Header{}}, nil
	})}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
