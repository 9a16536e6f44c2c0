package stored

import (
	"encoding/json"
	"fmt"

	"github.com/a2agen/a2agen/runtime/store"
)

// EncodePush writes what a configuration says; see [DecodePush].
func EncodePush(p *store.Push) ([]byte, error) {
	b, err := json.Marshal(p.Config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnfit, err)
	}
	return b, nil
}

// DecodePush reads what EncodePush wrote.
func DecodePush(doc []byte, p *store.Push) error { return json.Unmarshal(doc, &p.Config) }
