package spread

import "github.com/a2agen/a2agen/runtime/store"

var _ store.Located = (*Store)(nil)

// Location says where the tasks are: see [store.Located].
func (s *Store) Location() (kind, address string) { return "several databases", s.list }
