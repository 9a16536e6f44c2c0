package server

import (
	"cmp"
	"os"

	"github.com/a2agen/a2agen/runtime/audit"
)

// EnvAudit is the environment variable with the file of the audit log, where no option names one: see [WithAudit].
const EnvAudit = "A2A_AUDIT"

// WithAudit appends who did what to a file, as lines of JSON. While these cannot be written, calls are refused, unless
// an option says otherwise.
func WithAudit(path string, opts ...audit.Option) Option {
	return func(o *options) { o.auditPath, o.auditing = path, opts }
}

// openAudit opens the audit log, if there is to be one, which is an observer as others are.
func (s *Server) openAudit() (err error) {
	path := cmp.Or(s.auditPath, os.Getenv(EnvAudit))
	if path == "" {
		return nil
	}
	opts := append([]audit.Option{audit.WithLogger(s.core.Logger)}, s.auditing...)
	if s.audit, err = audit.Open(path, opts...); err == nil {
		s.core.Observers = append(s.core.Observers, s.audit)
	}
	return err
}

// closeAudit closes it when nothing more happens.
func (s *Server) closeAudit() {
	if s.audit == nil {
		return
	}
	if err := s.audit.Close(); err != nil {
		s.core.Logger.Error("the audit log could not be closed", "error", err)
	}
}
