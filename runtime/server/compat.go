package server

import (
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Compat is what a server does otherwise than A2A 1.0.1 has it or this project chose, for the sake of peers and older
// versions. The zero value is the default.
type Compat struct {
	// StrictVersion keeps requests without an A2A-Version header away from 1.0, as A2A 1.0 §3.6.2 (R73) asks: they are
	// of 0.3 or older, and refused when no such version is spoken. Without it such a request is served when its method
	// name is one of a spoken version (T27).
	StrictVersion bool
	// FormerStatuses gives errors the statuses that they had in A2A 1.0.0 over HTTP+JSON and gRPC (409 for a task that
	// cannot be canceled, 415 for a content type, UNIMPLEMENTED for what an agent does not do), for clients and test
	// suites that go by them (T9, T67). Both are version "1.0", and clients had better go by an error's reason.
	FormerStatuses bool
	// GRPCURL writes the address of gRPC in the card as a URL, "http://host:port", for clients that need a scheme.
	// Without it the address is host:port, as the official clients need it.
	GRPCURL bool
	// RequirementLists writes the scopes of security requirements in cards as plain lists, as callers with a2a-go 2.4.0
	// read them: in the public card and the extended one, over every binding but gRPC, for everybody. Generated code
	// sets it for "cards: {requirements: list}" in a2agen.yaml.
	RequirementLists bool
}

// WithCompat has a server do what c says. Given more than once, the values add up.
func WithCompat(c Compat) Option {
	return func(o *options) {
		o.compat.StrictVersion = o.compat.StrictVersion || c.StrictVersion
		o.compat.FormerStatuses = o.compat.FormerStatuses || c.FormerStatuses
		o.compat.GRPCURL = o.compat.GRPCURL || c.GRPCURL
		o.compat.RequirementLists = o.compat.RequirementLists || c.RequirementLists
		o.core.Strict = o.compat.StrictVersion
	}
}

// WithRequirementLists is what code has that was generated before [Compat].
//
// Deprecated: use [WithCompat].
func WithRequirementLists() Option { return WithCompat(Compat{RequirementLists: true}) }

// RequirementLists is a card, or a skill of one, as [Compat].RequirementLists writes it.
func RequirementLists(c wire.Object) wire.Object { return binding.RequirementLists(c) }
