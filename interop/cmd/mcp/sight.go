package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// sight is what a host saw.
type sight struct {
	Version                                                   string
	Tools                                                     []tool
	Forecast, Question, Invalid, Failed, Stream, Files, After called
	Asked                                                     []struct {
		Message         string
		RequestedSchema json.RawMessage
	}
	Canceled string
}

type tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
}

type called struct {
	Result   result
	Progress []*string // nil: a heartbeat
}

type result struct {
	IsError           bool
	StructuredContent json.RawMessage
	Content           []struct {
		Type, Text, Data string
		Resource         struct{ Text, Blob string }
	}
}

func (r result) text() string {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Type+" "+c.Text+c.Data+c.Resource.Text+c.Resource.Blob)
	}
	return strings.Join(texts, "|")
}

// check compares all of it with what it must be.
func (s *sight) check() error {
	var faults []error
	want := func(what string, ok bool, got any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%s: %+v", what, got))
		}
	}
	faults = append(faults, checkTools(s.Tools), checkForecast(s.Forecast.Result))
	want("progress", s.Forecast.told("Looking at the sky over Rome."), s.Forecast.Progress)
	want("the question", len(s.Asked) == 1 && s.Asked[0].Message == "Which Springfield?" && equal(s.Asked[0].RequestedSchema, state), s.Asked)
	want("its answer", strings.Contains(s.Question.Result.text(), "Sun in SpringfieldIllinois"), s.Question)
	want("arguments that do not fit", s.Invalid.Result.IsError && strings.Contains(s.Invalid.Result.text(), "input.city must be at least 1"), s.Invalid)
	want("a failure", s.Failed.Result.IsError && s.Failed.Result.text() == "text The tool failed: no map of that.", s.Failed)
	want("a stream", s.Stream.Result.text() == "text one two three" && s.Stream.told("one "), s.Stream)
	want("files", s.Files.Result.text() == "text see the files|image iVBORw==|resource words|resource JVBERg==" ||
		s.Files.Result.text() == "image iVBORw==|resource words|resource JVBERg==|text see the files", s.Files)
	want("a cancel", s.Canceled != "", s.Canceled)
	want("a call after it", s.After.Result.text() == "text you said hello", s.After)
	return errors.Join(faults...)
}

// told reports whether the text was progress, as a whole or as the first of its pieces.
func (c called) told(text string) bool {
	return slices.ContainsFunc(c.Progress, func(p *string) bool { return p != nil && strings.HasPrefix(*p, text) })
}

func checkTools(tools []tool) error {
	if len(tools) != 2 || tools[0].Name != "get_forecast" || tools[1].Name != "say" {
		return fmt.Errorf("the tools are %+v", tools)
	}
	t := tools[0]
	if !equal(t.InputSchema, input) || !equal(t.OutputSchema, output) || t.Title != "Forecast" || t.Description != "The weather of the next days.\n\nExamples: Rome, two days" {
		return fmt.Errorf("the tool is %s %s %+v", t.InputSchema, t.OutputSchema, t)
	}
	return nil
}

func checkForecast(r result) error {
	const want = `{"text":"Sun in Rome","days":[0,0]}`
	if r.IsError || !equal(r.StructuredContent, want) {
		return fmt.Errorf("the forecast is %s, %s", r.StructuredContent, r.text())
	}
	return nil
}

// equal reports whether two documents have the same value: libraries order members as they like.
func equal(got json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
