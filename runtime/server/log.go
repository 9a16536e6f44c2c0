package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// EnvLog is the environment variable that says what a [Logger] writes, and how: words with commas between them. A level
// (debug, info, warn, error) is the least of which lines are written; json has them as objects, text as they are by
// default.
const EnvLog = "A2A_LOG"

// Logger makes the logger of a generated program: lines of text to standard error from level info on, or as A2A_LOG
// says. The lines of calls are written by the next other line, after 50 ms at the latest, and when the server that has
// the logger is closed; all others at once.
func Logger() *slog.Logger { return newLogger(os.Stderr, os.Getenv(EnvLog)) }

func newLogger(to io.Writer, words string) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	h, unknown := &logHandler{lines: logLines{to: to}}, ""
	for word := range strings.SplitSeq(words, ",") {
		var level slog.Level
		switch word = strings.ToLower(strings.TrimSpace(word)); {
		case word == "" || word == "text":
		case word == "json":
			h.json = true
		case level.UnmarshalText([]byte(word)) == nil:
			o.Level = level
		default:
			unknown = word
		}
	}
	h.Handler = slog.NewTextHandler(&h.lines, o)
	if h.json {
		h.Handler = slog.NewJSONHandler(&h.lines, o)
	}
	log := slog.New(h)
	if unknown != "" {
		log.Warn(EnvLog+" has a word that is not known: debug, info, warn, error, json and text are", "word", unknown)
	}
	return log
}

// flushLog has the lines of calls written that wait for others. It is for the end: nobody may be left to do it.
func (s *Server) flushLog() {
	if h, ok := s.logger.Handler().(*logHandler); ok {
		h.lines.flush()
	}
}

// WithoutCallLog leaves out the line that is logged of every call at level info.
func WithoutCallLog() Option { return func(o *options) { o.noCallLog = true } }

// EnvExplain is the environment variable that, if it is not empty, has an agent write to standard error what else only
// its own code knows: why each message that begins a task went to its skill, and which messages its handlers send to
// other agents. Each is a line of [ChoiceLine] or [CallLine], and then JSON. Answers stay as they are. "a2agen dev" sets
// it.
const EnvExplain = "A2A_EXPLAIN"

// These begin the lines of [EnvExplain].
const (
	ChoiceLine = "a2agen: chosen "
	CallLine   = "a2agen: calls "
)

// teller returns what writes values of a type as lines.
func teller[T any](begin string, to io.Writer) func(T) {
	return func(what T) {
		if line, err := json.Marshal(what); err == nil {
			_, _ = to.Write(slices.Concat([]byte(begin), line, []byte("\n"))) // who reads it may be gone
		}
	}
}
