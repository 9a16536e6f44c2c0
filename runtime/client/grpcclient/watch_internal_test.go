package grpcclient

import (
	"testing"

	"pgregory.net/rapid"
)

// TestFramesAreFollowedHoweverTheyAreCut: reads have no respect for frames.
func TestFramesAreFollowedHoweverTheyAreCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var data, pings int64
		for range rapid.IntRange(0, 20).Draw(t, "frames") {
			kind := rapid.SampledFrom([]byte{0, 1, 4, 6, 8}).Draw(t, "type")
			flags := rapid.SampledFrom([]byte{0, 1}).Draw(t, "flags")
			size := rapid.IntRange(0, 70_000).Draw(t, "size")
			stream = append(stream, byte(size>>16), byte(size>>8), byte(size), kind, flags, 0, 0, 0, 1)
			stream = append(stream, make([]byte, size)...)
			if kind == frameData {
				data += int64(size)
			}
			if kind == framePing && flags == 0 {
				pings++
			}
		}
		c := &countingConn{received: new(traffic)}
		for len(stream) > 0 {
			n := min(len(stream), rapid.IntRange(1, 30_000).Draw(t, "read"))
			c.count(stream[:n])
			stream = stream[n:]
		}
		if got := c.received.data.Load(); got != data {
			t.Errorf("%d bytes of data, want %d", got, data)
		}
		if got := c.received.pings.Load(); got != pings {
			t.Errorf("%d pings, want %d", got, pings)
		}
	})
}
