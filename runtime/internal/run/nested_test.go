package run

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
)

// at makes the call of a message of a task, which knows what the store has.
func at(number int64, stored []byte, parts ...runtime.Part) *call {
	c := &call{r: &Runner{Config: Config{Now: time.Now, Limits: Limits{Event: 1 << 20}}}, skill: &skill{}}
	c.task.c, c.nth, c.parts = c, number, parts
	c.set("t1", "c1")
	c.task.have(stored)
	return c
}

// asked is a call of a skill with a text.
func asked(skill, text string) *nested.Call {
	return &nested.Call{Agent: "weather", Skill: skill, Content: [32]byte([]byte(fmt.Sprintf("%32s", text))), Parts: []runtime.Part{runtime.Text(text)}}
}

// private is what the store would get of a call.
func private(t *testing.T, c *call) []byte {
	t.Helper()
	b := c.task.unstored()
	if b == nil {
		t.Fatal("there is nothing to store")
	}
	return *b
}

func remember(t *testing.T, c *call, n *nested.Call) nested.Known {
	t.Helper()
	known, _, err := c.remember(n, true)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestACallIsTheSameInEachAttemptAndAnotherForEachOtherMessage(t *testing.T) {
	c := at(1, nil)
	rome, again, bern := remember(t, c, asked("s", "Rome")), remember(t, c, asked("s", "Rome")), remember(t, c, asked("s", "Bern"))
	skill := remember(t, c, asked("other", "Rome"))
	keys := []string{rome.Key, again.Key, bern.Key, skill.Key, remember(t, at(2, nil), asked("s", "Rome")).Key}
	if slices.Sort(keys); len(slices.Compact(keys)) != 5 {
		t.Errorf("of five calls there are %d", len(slices.Compact(keys)))
	}
	if err := (*chain)(c).Began(bern.ID, "other-task"); err != nil {
		t.Fatal(err)
	}
	second := at(1, private(t, c))
	for i, want := range []nested.Known{bern, rome, again} { // in another order, as goroutines may have it
		got := remember(t, second, asked("s", []string{"Bern", "Rome", "Rome"}[i]))
		if got.Key != want.Key || got.Sent.IsZero() || (got.Task != "") != (i == 0) || got.Answer != nil {
			t.Errorf("%d: got %+v, not %+v", i, got, want)
		}
	}
	if got := remember(t, second, asked("s", "Oslo")); !got.Sent.IsZero() {
		t.Errorf("a call that was never made was sent at %v", got.Sent)
	}
	known := asked("s", "Paris")
	known.Keys = true // it need not be stored before it is made
	if got := remember(t, second, known); got.Sent.IsZero() {
		t.Error("a call that may have been made was not sent")
	}
	if got := remember(t, at(2, private(t, c)), asked("s", "Bern")); got.Task != "" || !got.Sent.IsZero() || got.Key == bern.Key {
		t.Errorf("another message knows of %+v", got)
	}
}

func TestOnlyTheMessageAfterAQuestionAnswersIt(t *testing.T) {
	c := at(1, nil, runtime.Text("Rome"))
	rome := remember(t, c, asked("s", "Rome"))
	if err := (*chain)(c).Began(rome.ID, "other-task"); err != nil {
		t.Fatal(err)
	}
	id, of := c.task.notes.callOf("other-task")
	c.task.notes.ask(&askedCall{Call: id, Of: of, Question: "ask1.x", Message: 1})
	stored := private(t, c)
	if !passedOn(stored) {
		t.Error("the store does not see that a question was passed on")
	}
	for name, tt := range map[string]struct {
		number int64
		text   string // of the call, and of the message
		value  []byte // of a handle
		want   bool
	}{
		"the same call":                      {2, "Rome", nil, true},
		"a handler that passes the text on":  {2, "celsius", nil, true},
		"another call":                       {2, "Bern", nil, false},
		"the same message again":             {1, "Rome", nil, false},
		"a handle that somebody has granted": {2, "Rome", []byte("1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := at(tt.number, stored, runtime.Text("celsius"))
			c.value = tt.value
			got := remember(t, c, asked("s", tt.text))
			if (got.Answer != nil) != tt.want || tt.want && (got.Task != "other-task" || got.Answer.Key == got.Key || got.Answer.Question != "ask1.x") {
				t.Fatalf("got %+v", got)
			}
			if !tt.want {
				return
			}
			(*chain)(c).Answered(got.ID)
			if passedOn(private(t, c)) {
				t.Error("an answered question is still there")
			}
			again := at(tt.number, private(t, c), runtime.Text("celsius"))
			if got := remember(t, again, asked("s", tt.text)); got.Answer != nil || got.Task != "other-task" {
				t.Errorf("after the answer: %+v", got)
			}
		})
	}
	if got := remember(t, at(2, stored), asked("other", "celsius")); got.Answer != nil {
		t.Error("another skill gets the answer")
	}
}

// TestWhatIsRememberedOfCallsIsBounded: a handler that a crash would have make calls twice is refused more of them.
func TestWhatIsRememberedOfCallsIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		must, keys bool
		want       error
	}{
		"called again, without keys": {true, false, errTooManyCalls},
		"called again":               {true, true, nil},
		"called once":                {false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := at(1, nil)
			for i := range 5000 {
				n := asked("s", fmt.Sprint(i))
				n.Keys = tt.keys
				known, _, err := c.remember(n, tt.must)
				if err != nil {
					if !errors.Is(err, tt.want) || i < 100 {
						t.Errorf("call %d: %v", i, err)
					}
					return
				}
				h := (*chain)(c)
				if i%2 == 0 {
					err = h.Replied(known.ID, []byte(`"`+strings.Repeat("x", 1+i%(2*maxReply))+`"`))
				} else {
					err = h.Began(known.ID, strings.Repeat("x", 1+i%(2*maxTaskID)))
				}
				if err != nil && !tt.must {
					t.Fatal(err)
				}
			}
			if tt.want != nil {
				t.Error("there is no end")
			}
			if n := len(private(t, c)); n > 2*maxMade {
				t.Errorf("%d bytes are stored", n)
			}
		})
	}
}

func TestWhatAHandlerSavedStaysBesideItsCalls(t *testing.T) {
	for _, saved := range []string{"", `{"a":"\n"}`} {
		c := at(1, nil)
		remember(t, c, asked("s", "Rome"))
		if saved != "" {
			if err := (*view)(c).SetSaved([]byte(saved)); err != nil {
				t.Fatal(err)
			}
		}
		again := at(1, private(t, c))
		if got := string((*view)(again).Saved()); got != saved || again.task.nesting == nil {
			t.Errorf("got %q", got)
		}
	}
	for _, stored := range []string{"\x01", "\x02{", "\x01null\n", "\x02{\"calls\":{\"a\":null},\"asked\":{}}\n1", `{"a":1}`} {
		c := at(1, []byte(stored), runtime.Text("x"))
		remember(t, c, asked("s", "x"))
	}
	if c := at(1, []byte(`{"a":1}`)); !bytes.Equal((*view)(c).Saved(), []byte(`{"a":1}`)) {
		t.Error("what was saved before there were calls is lost")
	}
}
