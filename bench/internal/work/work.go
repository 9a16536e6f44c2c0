// Package work declares what every contestant is asked to do, so that all of them do the same.
//
// A request is a message with one text part. The text begins with a command (see [Parse]); the rest is filler, so that
// a request has the size of an ordinary question. Every answer carries the token that the process was started with,
// which shows that the load generator talks to that process and to no other.
package work

import (
	"runtime"
	"strconv"
	"strings"
	"time"
)

// TokenEnv names the environment variable that hands a contestant its token.
const TokenEnv = "BENCH_TOKEN"

// Kind is what a command asks for.
type Kind int

// The kinds of work.
const (
	Unknown Kind = iota
	// Message: answer with a plain message ([Reply]).
	Message
	// Task: answer with a finished task of four events: submitted, working ([Working]), one artifact ([Reply]), completed.
	Task
	// Stream: submitted, working, N artifact chunks ([Chunk]), completed. The handler lets go of the processor after
	// each chunk, so that a server gets the chance to send it at once.
	Stream
	// Paced: as Stream, but the handler rests for [Pace] after each chunk, as one that waits for a model does.
	Paced
	// Burst: as Stream, but the handler writes its chunks one after another without a pause.
	Burst
	// Hold: submitted and working, and then nothing for as long as the process lives.
	Hold
)

// Pace is how long a handler rests after each chunk of a paced stream.
const Pace = time.Millisecond

// Command is a parsed request text.
type Command struct {
	Kind Kind
	N    int // number of chunks of Stream, Paced and Burst
}

// Rest is what a handler does after each chunk.
func (c Command) Rest() {
	switch c.Kind {
	case Stream:
		runtime.Gosched()
	case Paced:
		time.Sleep(Pace)
	}
}

// Working is the text of the working status.
const Working = "Looking at the measurements of the last few hours."

// ArtifactName names the only artifact of a task.
const ArtifactName = "answer"

const filler = "Please summarise the weather along the route from Basel to Lugano for tomorrow morning, with wind, " +
	"rain and visibility on the passes, and say when to leave."

// Text makes a request text of the given kind. n is the number of chunks, where the kind has any.
func Text(k Kind, n int) string {
	switch k {
	case Message:
		return "message | " + filler
	case Task:
		return "task | " + filler
	case Stream:
		return "stream " + strconv.Itoa(n) + " | " + filler
	case Paced:
		return "paced " + strconv.Itoa(n) + " | " + filler
	case Burst:
		return "burst " + strconv.Itoa(n) + " | " + filler
	case Hold:
		return "hold | " + filler
	}
	return filler
}

// Parse reads the command at the beginning of a request text.
func Parse(text string) Command {
	head, _, ok := strings.Cut(text, " |")
	if !ok {
		return Command{}
	}
	word, count, _ := strings.Cut(head, " ")
	n, _ := strconv.Atoi(count)
	switch word {
	case "message":
		return Command{Kind: Message}
	case "task":
		return Command{Kind: Task}
	case "stream":
		return Command{Kind: Stream, N: n}
	case "paced":
		return Command{Kind: Paced, N: n}
	case "burst":
		return Command{Kind: Burst, N: n}
	case "hold":
		return Command{Kind: Hold}
	}
	return Command{}
}

// Reply is the text of a message answer and of a task's artifact.
func Reply(token string) string {
	return token + " Dry until ten, then showers from the west; leave before seven and take the tunnel, not the pass."
}

// Chunk is the text of a stream's i-th chunk, counted from 0.
func Chunk(token string, i int) string {
	var b [64]byte
	dst := append(b[:0], token...)
	dst = append(dst, " chunk "...)
	dst = strconv.AppendInt(dst, int64(i), 10)
	return string(append(dst, " of the answer"...))
}

// CardName is the name on a contestant's agent card.
func CardName(token string) string { return "bench " + token }
