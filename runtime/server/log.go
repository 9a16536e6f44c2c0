package server

import (
	"io"
	"log/slog"
	"os"
	"strings"
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
