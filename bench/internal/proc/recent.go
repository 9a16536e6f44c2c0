package proc

import "sync"

// recent keeps what was written to it last: a contestant logs a line of each request.
type recent struct {
	mu   sync.Mutex
	text []byte
}

// keptText is how many bytes are kept at least, as far as there are so many.
const keptText = 64 << 10

func (r *recent) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text = append(r.text, p...); len(r.text) > 2*keptText {
		r.text = append(r.text[:0], r.text[len(r.text)-keptText:]...)
	}
	return len(p), nil
}

func (r *recent) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}
