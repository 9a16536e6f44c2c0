package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/tool"
)

// questionKey names the one question of a result.
const questionKey = "question"

// manyRounds is the first version of MCP in which a question is a result, and its answer another request.
const manyRounds = "2026-07-28"

// ask asks the caller what the agent asks. In older versions the caller is asked within the request, whose steps go on
// with the answer; else a result has the question.
func (c *call) ask(ctx, running context.Context, ask *rpc.InputRequiredError) (steps, *sdk.CallToolResult) {
	params := elicitation(ask)
	if nowhere := ask.Auth != nil && ask.Auth.URL == ""; nowhere || !c.canAsk(params.Mode) {
		return nil, unasked(ask)
	}
	if c.req.ProtocolVersion() >= manyRounds {
		state := ask.Token()
		if state == "" {
			return nil, unasked(ask)
		}
		return nil, &sdk.CallToolResult{
			Meta: ids(ask.Result), InputRequests: sdk.InputRequestMap{questionKey: params}, RequestState: state,
		}
	}
	said, err := c.req.Session.Elicit(ctx, params)
	if err != nil {
		return nil, withIDs(failure("The host did not answer the question: "+ask.Prompt), ask.Result)
	}
	return c.answer(running, ask, said)
}

// elicitation is a question as MCP has it: a form, or a URL where a person authorizes something.
func elicitation(ask *rpc.InputRequiredError) *sdk.ElicitParams {
	message := cmp.Or(ask.Prompt, "More is needed to go on.")
	if ask.Auth != nil {
		return &sdk.ElicitParams{Mode: "url", Message: message, URL: ask.Auth.URL, ElicitationID: ask.TaskID}
	}
	if len(ask.Data) > 0 {
		message += "\n" + string(ask.Data)
	}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: form(json.RawMessage(ask.Schema))}
}

// canAsk reports whether the caller shows forms, or opens URLs.
func (c *call) canAsk(mode string) bool {
	capabilities := c.req.ClientCapabilities()
	if capabilities == nil || capabilities.Elicitation == nil {
		return false
	}
	e := capabilities.Elicitation
	if mode == "url" {
		return e.URL != nil
	}
	return e.Form != nil || e.URL == nil // who names neither has forms: before 2025-11-25 there was nothing else
}

// unasked is the result of a question that the caller has no means to ask.
func unasked(ask *rpc.InputRequiredError) *sdk.CallToolResult {
	text := tool.Text(ask)
	if ask.Auth != nil && ask.Auth.URL != "" {
		text += " It is given at " + ask.Auth.URL
	}
	return withIDs(failure(text), ask.Result)
}

// goOn answers the question of a task that an earlier request left.
func (c *call) goOn(ctx context.Context) (steps, *sdk.CallToolResult) {
	ask, err := c.Client.Ask(ctx, c.req.Params.RequestState, c.opts...)
	if err != nil {
		return c.late(ctx, err)
	}
	c.named(ask.TaskID)
	said, ok := c.req.Params.InputResponses[questionKey].(*sdk.ElicitResult)
	if !ok {
		return c.ask(ctx, ctx, ask)
	}
	return c.answer(ctx, ask, said)
}

// late is what becomes of an answer to a question that is open no more, for example because the request was repeated:
// what the task came to, or comes to, or what it asks by now.
func (c *call) late(ctx context.Context, err error) (steps, *sdk.CallToolResult) {
	var fault *rpc.AskError
	if !errors.As(err, &fault) || fault.Skill != c.skill.ID && fault.Skill != "" {
		return nil, c.failed(err)
	}
	c.named(fault.TaskID)
	switch fault.Fault {
	case rpc.AskEnded, rpc.AskAnswered:
		return c.wait(ctx, fault.TaskID), nil
	case rpc.AskChanged:
		return c.ask(ctx, ctx, fault.Now)
	}
	return nil, c.failed(err)
}

// answer gives the agent what a person said.
func (c *call) answer(ctx context.Context, ask *rpc.InputRequiredError, said *sdk.ElicitResult) (steps, *sdk.CallToolResult) {
	if said.Action != "accept" {
		return nil, withIDs(failure("The question was not answered: "+ask.Prompt), ask.Result)
	}
	if ask.Auth != nil {
		return c.wait(ctx, ask.TaskID), nil
	}
	part, ok := answerPart(json.RawMessage(ask.Schema), said.Content)
	if !ok {
		return nil, withIDs(failure("The answer is no JSON. The question was: "+ask.Prompt), ask.Result)
	}
	return c.skill.AnswerStream(ctx, c.Client, ask.With(c.opts...), part), nil
}

// answerPart is the part of a message that answers a question: the form's content, or what its one field has. It is not
// ok if the answer must fit a schema, and is no JSON.
func answerPart(schema json.RawMessage, content map[string]any) (part runtime.Part, ok bool) {
	if isForm(schema) {
		return runtime.Data(content), true
	}
	text, _ := content[answerKey].(string)
	if len(schema) == 0 {
		return runtime.Text(text), true
	}
	return runtime.Data(json.RawMessage(text)), json.Valid([]byte(text))
}

// wait waits for a task that goes on by itself, has ended, or waits for an authorization that a person is giving.
func (c *call) wait(ctx context.Context, task string) steps {
	return func(yield func(rpc.Event[*rpc.Result], error) bool) {
		for pause := minPause; ; pause = min(2*pause, maxPause) {
			r, err := c.Client.Await(ctx, task, c.opts...)
			var ask *rpc.InputRequiredError
			if !errors.As(err, &ask) || ask.Auth == nil {
				yield(rpc.Event[*rpc.Result]{TaskID: task, Done: err == nil, Result: r}, err)
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				yield(rpc.Event[*rpc.Result]{TaskID: task}, ctx.Err())
				return
			}
		}
	}
}

// minPause and maxPause are how long to wait before a task is asked for again that waits for an authorization.
const (
	minPause = 100 * time.Millisecond
	maxPause = 2 * time.Second
)
