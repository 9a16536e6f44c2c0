// Package openapi calls operations of HTTP APIs for the handlers that "a2agen import openapi" writes: it puts the members
// of an input where the API's document says that they belong, adds the credentials of the environment, and bounds the
// time, the size and the repetitions of a call.
package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/ownhost"
)

// Limits of a call unless the [API] says otherwise.
const (
	defaultTimeout  = 30 * time.Second // with all repetitions
	defaultMaxBytes = 4 << 20          // of an answer
)

// API is an HTTP API. It must not be copied after its first call, and may be used concurrently.
type API struct {
	Name string // for messages: "Petstore"
	// URL is the base of all paths, "https://api.example.com/v1", unless the environment variable URLEnv has another one.
	URL, URLEnv string
	Client      *http.Client  // nil: one that follows redirects on the API's own host only
	Timeout     time.Duration // of a call with its repetitions; 0: 30 seconds
	MaxBytes    int64         // of an answer; 0: 4 MiB

	tokens tokens
}

// Operation is one operation of an API, as its document describes it.
type Operation struct {
	Method string // "GET"
	Path   string // "/pets/{petId}"
	Server string // the operation's own base; "": that of the API
	Params []Param
	Body   Body
	Auth   []Credential // all of them are sent
	// AuthOptional: the operation can be called without credentials, too, if the environment has none.
	AuthOptional bool
	// Text: the answer is text, not JSON.
	Text bool
}

// Call calls an operation with an input, which is a JSON object, and decodes the answer into out: JSON into any value
// that takes it, text into a *string. An API that is busy (429, 503) is asked again, as long as the time allows. The
// error is a *[StatusError] for an answer that is no success, and a *[CredentialError] where the environment has no
// credentials.
func (a *API) Call(ctx context.Context, op Operation, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Timeout, defaultTimeout))
	defer cancel()
	all, err := membersOf(in)
	if err != nil {
		return err
	}
	base, err := a.base(op)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		status, answer, err := a.try(ctx, base, op, all)
		if err != nil {
			return a.explain(ctx, err)
		}
		if status.ok() {
			return decode(a, op, answer, out)
		}
		if !status.again(ctx, attempt) {
			return status
		}
	}
}

// members are those of an input, by their names.
type members map[string]json.RawMessage

// membersOf returns the members of an input.
func membersOf(in any) (members, error) {
	src, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the input: %w", err)
	}
	var all members
	if err := json.Unmarshal(src, &all); err != nil {
		return nil, fmt.Errorf("the input is no JSON object: %w", err)
	}
	return all, nil
}

// base is where the paths of the operation begin.
func (a *API) base(op Operation) (string, error) {
	url := cmp.Or(op.Server, a.URL)
	if set := os.Getenv(a.URLEnv); a.URLEnv != "" && set != "" {
		url = set
	}
	if url == "" {
		return "", fmt.Errorf("nobody says where %s is: set %s", a.Name, a.URLEnv)
	}
	return strings.TrimRight(url, "/"), nil
}

// try makes one request, and reads its answer.
func (a *API) try(ctx context.Context, base string, op Operation, in members) (*StatusError, []byte, error) {
	req, err := op.request(ctx, base, in)
	if err != nil {
		return nil, nil, err
	}
	if err := a.authorize(ctx, req, op); err != nil {
		return nil, nil, err
	}
	resp, err := a.client().Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	limit := cmp.Or(a.MaxBytes, defaultMaxBytes)
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(body)) > limit {
		return nil, nil, fmt.Errorf("the answer has more than %d bytes", limit)
	}
	return &StatusError{API: a.Name, Method: op.Method, Status: resp.StatusCode, Body: body,
		RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}, body, nil
}

// decode reads an answer.
func decode(a *API, op Operation, answer []byte, out any) error {
	if text, is := out.(*string); is {
		*text = string(answer)
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return &AnswerError{API: a.Name, Err: err}
	}
	return nil
}

// explain says which API failed, without its address, which may hold a key.
func (a *API) explain(ctx context.Context, err error) error {
	var missing *CredentialError
	if errors.As(err, &missing) || ctx.Err() == nil && errors.Is(err, errInput) {
		return err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return &UnreachableError{API: a.Name, Err: withoutURL(err)}
}

// client is the client of all APIs that have none of their own.
func (a *API) client() *http.Client {
	if a.Client != nil {
		return a.Client
	}
	return ownhost.Client()
}
