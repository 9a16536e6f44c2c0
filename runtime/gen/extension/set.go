package extension

import (
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Set is the extensions of an agent, for its server.
type Set struct {
	byURI  map[string]*Contract
	byName map[string]*Contract // by the member of metadata that holds a value
	parted []*Contract          // those that have parts
	method map[string]string    // URI by operation
}

// SetOf makes the set of an agent. No two contracts may have one URI, or one member of metadata.
func SetOf(contracts ...*Contract) *Set {
	s := &Set{map[string]*Contract{}, map[string]*Contract{}, nil, map[string]string{}}
	for _, x := range contracts {
		s.byURI[x.URI], s.byName[x.Name()] = x, x
		if x.MediaType != "" {
			s.parted = append(s.parted, x)
		}
		for _, name := range x.Methods {
			s.method[name] = x.URI
		}
	}
	return s
}

// Has reports whether the extension is in the set.
func (s *Set) Has(uri string) bool { return s.byURI[uri] != nil }

// Of returns the URI of the extension that an operation belongs to, by its name in JSON-RPC; "" for one that is no
// extension's.
func (s *Set) Of(method string) string { return s.method[method] }

// Named lists the extensions that a request names beside its frame: in its message's list, or by a value.
func (s *Set) Named(p *runtime.SendRequest) (uris []string) {
	add := func(x *Contract) {
		if x != nil {
			uris = Named(uris, x.URI)
		}
	}
	info := p.Message.MessageInfo()
	for _, uri := range info.Extensions {
		add(s.byURI[uri])
	}
	for _, metadata := range []wire.Object{info.Metadata, p.Metadata} {
		for name := range metadata.All() {
			add(s.byName[name])
		}
	}
	if len(s.parted) > 0 {
		parts := p.Message.Contents()
		for i := range parts {
			add(s.ofPart(&parts[i]))
		}
	}
	return uris
}

// ofPart is the contract that a part belongs to, or nil.
func (s *Set) ofPart(p *runtime.Part) *Contract {
	if i := slices.IndexFunc(s.parted, func(x *Contract) bool { return x.Owns(p) }); i >= 0 {
		return s.parted[i]
	}
	return nil
}

// Check checks the values that a request and its message hold. It returns what is wrong with the first one that does not
// fit, a *check.Error, the URI of its extension, and the path that leads there.
func (s *Set) Check(p *runtime.SendRequest) (uri, field string, err error) {
	message := func(x *Contract) func([]byte) error { return x.Message }
	if uri, field, err = s.checkMetadata("message.metadata", p.Message.MessageInfo().Metadata, message); err != nil {
		return uri, field, err
	}
	request := func(x *Contract) func([]byte) error { return x.Request }
	if uri, field, err = s.checkMetadata("metadata", p.Metadata, request); err != nil || len(s.parted) == 0 {
		return uri, field, err
	}
	parts := p.Message.Contents()
	for i := range parts {
		if x := s.ofPart(&parts[i]); x != nil && x.CallerPart != nil {
			if err := x.CallerPart(parts[i].Data); err != nil {
				return x.URI, "message.parts[" + strconv.Itoa(i) + "].data", err
			}
		}
	}
	return "", "", nil
}

// checkMetadata checks the values that metadata hold, in one pass.
func (s *Set) checkMetadata(
	field string, metadata wire.Object, of func(*Contract) func([]byte) error,
) (uri, path string, err error) {
	for name, value := range metadata.All() {
		x := s.byName[name]
		if x == nil || of(x) == nil {
			continue
		}
		if err := of(x)(value); err != nil {
			return x.URI, field + `["` + name + `"]`, err
		}
	}
	return "", "", nil
}
