package dev

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/page"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// Limits of what is kept of an agent's lines.
const (
	maxLines    = 1000
	maxLineText = 4 << 10 // bytes
)

// lineLog keeps the last lines that an agent printed, without secrets.
type lineLog struct {
	agent int
	feed  *live.Feed

	mu   sync.Mutex
	kept []page.Line
}

func (l *lineLog) add(text string) {
	text = strings.ToValidUTF8(text[:min(len(text), maxLineText)], "�")
	line := page.Line{Agent: l.agent, At: time.Now(), Text: string(traffic.Mask([]byte(text)))}
	l.mu.Lock()
	if len(l.kept) == maxLines {
		l.kept = append(l.kept[:0], l.kept[maxLines/10:]...)
	}
	l.kept = append(l.kept, line)
	l.mu.Unlock()
	l.feed.Publish("log", line)
}

func (l *lineLog) all() []page.Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}
