package skills

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

func TestModel_isAskedAgainWhenItIsBusy(t *testing.T) {
	w := newWorld(t, status(http.StatusTooManyRequests, "slow down", "Retry-After", "7"), status(http.StatusInternalServerError, "oops"), says("Hello."))
	r, err := w.assistant(t).Ask(t.Context(), "?")
	if err != nil || answer(r) != "Hello." {
		t.Fatalf("got %+v, %v", r, err)
	}
	if len(w.waited) != 2 || w.waited[0] != 7*time.Second || w.waited[1] != 2*time.Second {
		t.Errorf("it waited %v", w.waited)
	}
}

func TestModel_saysWhyItCannotAnswer(t *testing.T) {
	busy := status(http.StatusTooManyRequests, "slow down")
	broken := status(http.StatusInternalServerError, "oops")
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		want    string
	}{
		"too many requests": {[]http.HandlerFunc{busy, busy, busy}, "too much to do"},
		"it fails":          {[]http.HandlerFunc{broken, broken, broken}, "endpoint fails"},
		"a wrong key":       {[]http.HandlerFunc{status(http.StatusUnauthorized, "no")}, "set MODEL_KEY"},
		"no such model":     {[]http.HandlerFunc{status(http.StatusNotFound, "no")}, "MODEL_NAME"},
		"a schema":          {[]http.HandlerFunc{status(http.StatusBadRequest, "$schema")}, "MODEL_DIALECT"},
		"a cut stream":      {[]http.HandlerFunc{stream(words("It is "))}, "broke off"},
		"an error in it":    {[]http.HandlerFunc{stream(words("It is "), `{"error":{"message":"overloaded"}}`)}, "broke off"},
		"no events":         {[]http.HandlerFunc{stream(words("It is "), `<html>`)}, "broke off"},
		"a body without end": {[]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			for line := stream(words(strings.Repeat("blah ", 1000))); r.Context().Err() == nil; {
				line(w, r)
			}
		}}, "too long"},
		"a line without end": {[]http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
			for _, err := w.Write([]byte("data: ")); err == nil && r.Context().Err() == nil; {
				_, err = w.Write([]byte(strings.Repeat("blah ", 1000)))
			}
		}}, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.answers...)
			w.agent.model.Bytes = 2 << 20
			_, err := w.assistant(t).Ask(t.Context(), "?")
			var ended *rpc.TaskError
			if !errors.As(err, &ended) || !strings.Contains(ended.Message, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestModel_needsNoDone(t *testing.T) {
	w := newWorld(t, stream(words("Hello."), stop))
	if r, err := w.assistant(t).Ask(t.Context(), "?"); err != nil || answer(r) != "Hello." {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestModel_mayAnswerAllAtOnce(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"model":"m","choices":[{"message":{"content":"Hello."},"finish_reason":"length"}]}`))
	})
	if r, err := w.assistant(t).Ask(t.Context(), "?"); err != nil || answer(r) != "Hello. …" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestModel_saysWhatToSetWithoutAnAddress(t *testing.T) {
	w := newWorld(t)
	w.agent.model.URL = ""
	if _, err := w.assistant(t).Ask(t.Context(), "?"); err == nil || !strings.Contains(err.Error(), "Set MODEL_URL") {
		t.Errorf("got %v", err)
	}
	w.agent.model.URL, w.agent.model.Tries = "http://127.0.0.1:1", 1
	if _, err := w.assistant(t).Ask(t.Context(), "?"); err == nil || !strings.Contains(err.Error(), "Nothing answers") {
		t.Errorf("got %v", err)
	}
}

func TestModel_numbersCallsOfEndpointsThatDoNot(t *testing.T) {
	r := &reading{write: func(string) error { return nil }}
	for _, id := range []string{"a", "b"} {
		c := wireCall{ID: id}
		c.Function.Name = "convert"
		if err := r.add(delta{Calls: []wireCall{c}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Calls) != 2 || r.Calls[1].ID != "b" {
		t.Errorf("got %+v", r.Calls)
	}
}
