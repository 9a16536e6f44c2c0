// Package reply reads and writes the JSON of the page's API.
package reply

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is how large a request of the page may be, in bytes.
const MaxBody = 24 << 20

// JSON answers with a value.
func JSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the reader may be gone
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the reader may be gone
}

// Read reads the body of a request into v.
func Read(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("the request is not the JSON that is expected here: %w", err)
	}
	return nil
}
