package sse

import (
	"bufio"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// Whatever an agent streams takes time linear in its size.
func TestStreamsTakeLinearTime(t *testing.T) {
	for name, piece := range map[string]string{
		"events": "id: 1\ndata: x\n\n", "lines of data": "data: x\n", "comments": ":\n", "empty lines": "\n", "unknown fields": "what: x\n",
		"ids": "id: x\n", "carriage returns": "data\r", "line ends of both kinds": "data: x\r\n\r\n", "one long line": "data: data: ", "retries": "retry: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 8<<10, func(n int) func() {
				text := strings.Repeat(piece, n) + "\n\n"
				return func() {
					r := NewReader(bufio.NewReader(strings.NewReader(text)), 64<<20)
					for {
						if _, err := r.Next(); err != nil {
							return
						}
					}
				}
			})
		})
	}
}
