package client_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// TestAnAgentTellsWhichMessagesItsHandlersSend to whoever develops it: the id of the message, and the task that it is
// sent for.
func TestAnAgentTellsWhichMessagesItsHandlersSend(t *testing.T) {
	t.Setenv(server.EnvExplain, "1")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write // the agent takes it when it starts
	t.Cleanup(func() { os.Stderr = stderr })
	w := newWeather(t, "ours")
	sent := make(chan string, 10)
	w.saw = func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		sent <- string(b)
	}
	p := newPlanner(t, passOn(w.client(), ""))
	r, err := plan.Call(t.Context(), p.client(), "Rome")
	if err != nil {
		t.Fatal(err)
	}
	for scan := bufio.NewScanner(read); scan.Scan(); {
		text, ok := strings.CutPrefix(scan.Text(), server.CallLine)
		if !ok {
			continue
		}
		var told struct{ Task, Agent, Skill, Message string }
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			t.Fatal(err)
		}
		if told.Task != r.TaskID || told.Agent != "http://agent/rpc" || told.Skill != "weather" || !strings.Contains(<-sent, `"messageId":"`+told.Message+`"`) {
			t.Errorf("%s, of task %s", text, r.TaskID)
		}
		break
	}
	_ = write.Close()
	_ = read.Close()
}
