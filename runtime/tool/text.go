package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// maxText is how long a text for a model may be, in bytes.
const maxText = 4 << 10

// Text words the error of a call for a model, so that it can mend the call or say why it cannot:
//
//	The arguments do not fit: input.days must be at most 5. Call the tool again with arguments that fit.
//
// It has what the agent said, and nothing of addresses, credentials or this program. It is "" for nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	text := words(err)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + " …"
	}
	return text
}

// words is Text without its limit.
func words(err error) string {
	var unknown *UnknownError
	var ask *rpc.InputRequiredError
	var output *rpc.OutputError
	var ended *rpc.TaskError
	var broken *check.Error
	var refused *runtime.Error
	var lacks *rpc.CredentialError
	switch {
	case errors.As(err, &unknown):
		return unknownTool(unknown)
	case errors.As(err, &ask):
		return question(ask)
	case errors.As(err, &output):
		return "The tool has done its work, but its answer does not fit its schema. Do not call it again for the same."
	case errors.As(err, &ended):
		return endedTask(ended)
	case errors.As(err, &broken):
		return doNotFit(violationsOf(broken))
	case errors.As(err, &lacks) || errors.Is(err, runtime.ErrUnauthenticated) || errors.Is(err, runtime.ErrPermissionDenied):
		return "The tool may not be used with the credentials that there are. Go on without it."
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.Is(err, context.Canceled):
		return "The call was canceled."
	case errors.Is(err, context.DeadlineExceeded):
		return "The tool took too long. It may have done its work nevertheless."
	}
	return "The tool cannot be reached now, or did not answer as it should. Try once more, or go on without it."
}

func unknownTool(e *UnknownError) string {
	if len(e.Known) == 0 {
		return "There are no tools. Answer without."
	}
	return "There is no tool " + quoted(e.Name) + ". The tools are " + strings.Join(e.Known, ", ") + "."
}

// question words what a skill asks.
func question(ask *rpc.InputRequiredError) string {
	if ask.Auth != nil {
		return sentence("The tool needs an authorization that only a person can give", ask.Prompt)
	}
	text := sentence("The tool asks", ask.Prompt)
	if len(ask.Schema) > 0 {
		text += " The answer must fit this JSON Schema: " + string(ask.Schema)
	}
	return text + " Call it again with arguments that say so, or ask the user."
}

// endedTask words a task that ended without a result.
func endedTask(e *rpc.TaskError) string {
	switch e.State {
	case runtime.StateRejected:
		return sentence("The tool declined", e.Message)
	case runtime.StateCanceled:
		return sentence("The call was canceled", e.Message)
	}
	return sentence("The tool failed", e.Message)
}

// refusal words an error of the agent.
func refusal(e *runtime.Error) string {
	if list := e.Violations(); len(list) > 0 {
		places := make([]string, len(list))
		for i, v := range list {
			places[i] = strings.TrimSpace(v.Field + " " + v.Description)
		}
		return doNotFit(places)
	}
	return sentence("The tool refused the call", e.Text())
}

func doNotFit(places []string) string {
	return sentence("The arguments do not fit", strings.Join(places, "; ")) + " Call the tool again with arguments that fit."
}

// violationsOf words violations with their places below "input": "input.days must be at most 5".
func violationsOf(e *check.Error) []string {
	var list []string
	for _, v := range e.Violations {
		list = append(list, place(v.Pointer)+" "+predicate(v.Message))
	}
	return list
}

// predicate makes the message of a violation go on with a sentence.
func predicate(message string) string {
	if strings.HasPrefix(message, "required") {
		return "is " + message
	}
	return message
}

// place turns a JSON pointer into a path below "input": "/days/0/high" becomes "input.days[0].high".
func place(pointer string) string {
	var b strings.Builder
	b.WriteString("input")
	if pointer == "" {
		return b.String()
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + token + "]")
			continue
		}
		b.WriteString("." + token)
	}
	return b.String()
}

// sentence is an intro with what somebody else said, on one line.
func sentence(intro, said string) string {
	said = strings.Join(strings.Fields(said), " ")
	if said == "" {
		return intro + "."
	}
	if strings.ContainsAny(said[len(said)-1:], ".?!") {
		return intro + ": " + said
	}
	return intro + ": " + said + "."
}

// quoted is a text in quotes, cut where it is long.
func quoted(s string) string {
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	b, err := json.Marshal(s)
	if err != nil {
		return `"?"`
	}
	return string(b)
}
