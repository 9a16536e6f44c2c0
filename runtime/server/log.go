package server

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// EnvLog is the environment variable that says what a [Logger] writes, and how: words with commas between them. A level
// (debug, info, warn, error) is the least of which lines are written; json has them as objects, text as they are by
// default.
const EnvLog = "A2A_LOG"

// Logger makes the logger of a generated program: lines of text to standard error from level info on, or as A2A_LOG
// says.
func Logger() *slog.Logger { return newLogger(os.Stderr, os.Getenv(EnvLog)) }

func newLogger(to io.Writer, words string) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	isJSON, unknown := false, ""
	for word := range strings.SplitSeq(words, ",") {
		var level slog.Level
		switch word = strings.ToLower(strings.TrimSpace(word)); {
		case word == "" || word == "text":
		case word == "json":
			isJSON = true
		case level.UnmarshalText([]byte(word)) == nil:
			o.Level = level
		default:
			unknown = word
		}
	}
	var h slog.Handler = slog.NewTextHandler(to, o)
	if isJSON {
		h = slog.NewJSONHandler(to, o)
	}
	log := slog.New(h)
	if unknown != "" {
		log.Warn(EnvLog+" has a word that is not known: debug, info, warn, error, json and text are", "word", unknown)
	}
	return log
}

// WithoutCallLog leaves out the line that is logged of every call at level info.
func WithoutCallLog() Option { return func(o *options) { o.noCallLog = true } }

// logs reports whether calls are logged.
func (c *Call) logs() bool { return !c.s.noCallLog && c.s.logger.Enabled(c.Context, slog.LevelInfo) }

// log writes the line of a call that is over, unless there is one that says why it was refused.
func (c *Call) log(a *served) {
	if a.refused {
		return
	}
	attrs := make([]slog.Attr, 0, 10)
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add("operation", a.Operation)
	add("skill", a.Skill)
	add("task", a.Task)
	add("caller", a.Caller.Principal())
	if c.About.State != runtime.StateUnspecified {
		add("state", c.About.State.String())
	}
	if a.Reason == "" {
		add("outcome", "ok")
	} else {
		add("outcome", a.Reason)
	}
	attrs = append(attrs, slog.Duration("took", time.Since(a.Begun)))
	if c.s.logger.Enabled(c.Context, slog.LevelDebug) {
		add("binding", a.Binding)
		add("version", a.Version)
		add("context", a.Context)
	}
	c.s.logger.LogAttrs(c.Context, slog.LevelInfo, "request", attrs...)
}
