package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/coverage"
	"strings"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/gen/check"
	"github.com/a2agen/a2agen/runtime/gen/handler"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/wire"
)

// settled is after how long what a message has begun in the background, such as the first round of a lease, is over.
const settled = 100 * time.Millisecond

const card = `{"name":"Measured","description":"forecasts","version":"1.0.0",
	"supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{},"defaultInputModes":["application/json"],"defaultOutputModes":["application/json"],"skills":[]}`

const message = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{
	"messageId":"m1","role":"ROLE_USER","parts":[{"data":{"city":"Rome"}}]}}}`

// handleMessage has an agent in memory handle one message for a typed skill, whose answer is a task, and writes the
// coverage of that alone to dir: of its second message, so that what is done once is not counted.
func handleMessage(dir string) error {
	protocol := a2a.Protocol()
	decoded, err := protocol.DecodeCard([]byte(card))
	if err != nil {
		return err
	}
	cfg := server.Config{Protocol: protocol, Card: decoded, Skills: []server.Skill{forecast}}
	s, err := server.New(cfg, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	for range 2 {
		time.Sleep(settled)
		if err := coverage.ClearCounters(); err != nil {
			return fmt.Errorf("clear the coverage: %w", err)
		}
		r := httptest.NewRequest(http.MethodPost, "http://localhost/rpc", strings.NewReader(message))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "TASK_STATE_COMPLETED") {
			return fmt.Errorf("the message was answered with %s", w.Body)
		}
	}
	if err := coverage.WriteMetaDir(dir); err != nil {
		return err
	}
	return coverage.WriteCountersDir(dir)
}

// forecast is what the generator makes of a skill whose input and output are a place.
var forecast = server.Skill{
	ID: "forecast", Name: "Forecast", InputSchema: schema, OutputSchema: schema, Decode: handler.Decode[place],
	Run: handler.JSON(func(_ context.Context, _ *server.Task, in *place) (*place, error) { return in, nil }),
}

const schema = `{"type":"object","properties":{"city":{"type":"string","minLength":1}},"required":["city"]}`

type place struct{ City string }

var keysOfPlace = check.Keys{Names: []string{"city"}, Required: []bool{true}}

func (v *place) UnmarshalJSON(src []byte) error { return check.Decode(src, v, readPlace, checkPlace) }

func (v *place) AppendJSON(dst []byte) ([]byte, error) {
	return check.Append(dst, v, checkPlace, writePlace)
}

func (v place) MarshalJSON() ([]byte, error) { return check.Append(nil, &v, checkPlace, writePlace) }

func readPlace(r *check.Reader) (v place) {
	if !r.IsObject() {
		return v
	}
	var seen [1]bool
	others := 0
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if string(key) == "city" {
			if r.Field(&seen[0]) {
				v.City = r.String()
			}
			continue
		}
		others++
		r.Unknown(key, &keysOfPlace)
	}
	r.Keys(&keysOfPlace, seen[:], others, nil)
	return v
}

func checkPlace(c *check.Checker, v *place) {
	c.Enter("city")
	c.Text(v.City)
	c.MinLength(v.City, 1)
	c.Leave()
}

func writePlace(b []byte, v *place) []byte {
	start := len(b)
	b = wire.AppendString(append(b, `,"city":`...), v.City)
	return wire.EndObject(b, start)
}
