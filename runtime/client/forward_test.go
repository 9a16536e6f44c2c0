package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// forwarding is a handler that passes the steps of a call on.
func forwarding(c *rpc.Client) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
	return func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		r, err := rpc.Forward(t, askWeather.Stream(ctx, c, t.Text()))
		var ask *rpc.InputRequiredError
		if errors.As(err, &ask) {
			return nil, t.AskFrom(ask)
		}
		if err != nil {
			return nil, runtime.PassOn(err)
		}
		return []byte("the weather is " + r.Text()), nil
	}
}

// passed are the progress and the chunks that a stream of the planner's brings, and its end.
func passed(stream iter.Seq2[rpc.Event[*rpc.Result], error]) (list []string, err error) {
	for step, err := range stream {
		switch {
		case err != nil:
			return list, err
		case step.Done:
			return append(list, "= "+step.Output.Text()), nil
		case step.Artifact != nil && step.Artifact.ID != runtime.ResultArtifact:
			list = append(list, fmt.Sprintf("%s %t: %s", step.Artifact.Name, strings.HasPrefix(step.Artifact.ID, "from-"), step.Text()))
		case step.Progress != "":
			list = append(list, step.Progress)
		}
	}
	return list, nil
}

func TestProgressAndChunksPassUpInTheirOrder(t *testing.T) {
	t.Parallel()
	for kind := range weathers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWeather(t, kind)
				p := inMemory(t, 0, forwarding(w.client()))
				got, err := passed(plan.Stream(t.Context(), p.client(), "map of Rome"))
				want := []string{"looking at map of Rome", "poem true: it ", " true: is ", " true: fine", "= the weather is sunny"}
				if kind == "no streams" {
					want = []string{"poem true: it is fine", "= the weather is sunny"}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}

func TestAnErrorOfAForwardedCallStaysOne(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, forwarding(w.client()))
		list, err := passed(plan.Stream(t.Context(), p.client(), "fail"))
		var failed *rpc.TaskError
		if !errors.As(err, &failed) || failed.Message != "The skill failed unexpectedly." || slices.Contains(list, "no weather today") {
			t.Errorf("got %q, %v", list, err)
		}
	})
}

func TestAForwardedCallGoesOnAfterItsQuestion(t *testing.T) {
	t.Parallel()
	withEachWeather(t, func(t *testing.T, w *weather) {
		p := inMemory(t, 0, forwarding(w.client()))
		c := p.client()
		_, err := passed(plan.Stream(t.Context(), c, "ask Rome"))
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || ask.Prompt != "Which units?" {
			t.Fatalf("got %v", err)
		}
		list, err := passed(plan.AnswerStream(t.Context(), c, ask, runtime.Text("celsius")))
		if err != nil || list[len(list)-1] != "= the weather is ask Rome in celsius" {
			t.Errorf("got %q, %v", list, err)
		}
	})
}

// TestAPlainAnswerOfAnotherAgentIsRemembered where that makes no task.
func TestAPlainAnswerOfAnotherAgentIsRemembered(t *testing.T) {
	t.Parallel()
	eachWeather(t, func(t *testing.T, w *weather) {
		p := newPlanner(t, passOn(w.client(), "after the answer"))
		c := p.client()
		task := p.begin(c, "reply")
		<-p.points
		p.crash(task)
		r, err := c.Await(t.Context(), task)
		if err != nil || r.Text() != "the weather is just words" {
			t.Errorf("got %+v, %v", r, err)
		}
		if got := w.ran(); got != `["reply"] []` {
			t.Errorf("the weather was asked %s", got)
		}
	})
}
