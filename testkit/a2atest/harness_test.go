package a2atest_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/a2atest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forecastInput and forecastOutput are as the types of a skill are generated: they validate what they read and write.
type forecastInput struct {
	City string `json:"city"`
}

type forecastOutput struct {
	Text string `json:"text"`
	Days int    `json:"days"`
}

func (v *forecastInput) UnmarshalJSON(src []byte) error {
	type plain forecastInput
	return read(src, (*plain)(v), func() bool { return v.City != "" }, "/city", "is required")
}

func (v *forecastInput) AppendJSON(dst []byte) ([]byte, error) {
	return write(dst, v, v.City != "", "/city", "is required")
}

func (v *forecastOutput) UnmarshalJSON(src []byte) error {
	type plain forecastOutput
	return read(src, (*plain)(v), func() bool { return v.Days > 0 }, "/days", "must be at least 1")
}

func (v *forecastOutput) AppendJSON(dst []byte) ([]byte, error) {
	return write(dst, v, v.Days > 0, "/days", "must be at least 1")
}

func read(src []byte, v any, good func() bool, pointer, message string) error {
	if err := json.Unmarshal(src, v); err != nil {
		return &check.Error{Violations: []check.Violation{{Message: "must be an object"}}}
	}
	if !good() {
		return &check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}}
	}
	return nil
}

func write(dst []byte, v any, good bool, pointer, message string) ([]byte, error) {
	if !good {
		return dst, &check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}}
	}
	b, err := json.Marshal(v)
	return append(dst, b...), err
}

// fake is as a generated fake: a skill with schemas, and one of text.
type fake struct {
	*a2atest.Fake
	Forecast *a2atest.Skill[*forecastInput, *forecastOutput]
	Chat     *a2atest.Skill[string, string]
}

func newFake(t testing.TB, opts ...a2atest.Option) *fake {
	t.Helper()
	f := &fake{
		Forecast: a2atest.NewSkill[*forecastInput, *forecastOutput]("forecast", "Forecast"),
		Chat:     a2atest.NewSkill[string, string]("chat", "Chat"),
	}
	f.Fake = a2atest.NewFake(t, a2atest.FakeConfig{
		Name: "weather", Protocol: a2a.ClientProtocol(), Skills: []a2atest.AnySkill{f.Forecast, f.Chat},
		Samples: map[string]string{"forecast": `{"text":"made up","days":1}`},
	}, opts...)
	return f
}

// client is as a generated client.
type client struct{ *a2aclient.Client }

func (f *fake) Client(t testing.TB, opts ...rpc.Option) client {
	t.Helper()
	c, err := a2aclient.New(t.Context(), f.URL(), append(f.Options(), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return client{c}
}

var (
	forecast = rpc.Skill[*forecastInput, *forecastOutput]{ID: "forecast", In: rpc.DataInput[forecastInput], Out: rpc.DataOutput[forecastOutput]}
	chat     = rpc.Skill[string, *rpc.Result]{ID: "chat", In: rpc.TextInput, Out: rpc.PlainOutput}
)

// sunny is a good output.
func sunny(days int) *forecastOutput {
	return &forecastOutput{Text: fmt.Sprintf("%d days of sun", days), Days: days}
}

// lastOf returns the output of a stream.
func lastOf[Out any](steps iter.Seq2[rpc.Event[Out], error]) (out Out, err error) {
	for step, err := range steps {
		if err != nil {
			return out, err
		}
		if step.Done {
			out = step.Output
		}
	}
	return out, nil
}

func cancelRequest(id string) *a2a.CancelTaskRequest { return &a2a.CancelTaskRequest{ID: id} }
