package equivalence

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/internal/test/prototest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/spec"
)

// speaker says what a script wants in one version, over one binding, in one encoding.
type speaker struct {
	version  *runtime.Version
	table    *runtime.Table
	binding  string
	encoding string // "json", "protojson", "proto"
	manner   manner
	link     func(d door) (link, error)
}

// manner is what clients of HTTP+JSON do one way or the other.
type manner struct {
	name       string
	snakeCase  bool   // names of query parameters
	tenantPath bool   // the tenant stands in the path
	postToJoin bool   // a subscription is a POST
	schemaJSON bool   // messages are sent in the JSON of the version's schema instead of that of its proto
	version    string // the only one that is spoken so; "": all
}

func (s *speaker) String() string {
	name := fmt.Sprintf("%s over %s, %s", s.version.Name, s.binding, s.encoding)
	if s.manner.name != "" {
		name += " (" + s.manner.name + ")"
	}
	return name
}

// link carries calls to an agent as a binding does.
type link interface {
	// call makes one call. The answer is to a stream if the operation is one and nothing went wrong before.
	call(ctx context.Context, c call) (*answer, error)
	close()
}

// call is a request in the bytes of an encoding, with what travels beside it.
type call struct {
	op      *runtime.Operation
	request []byte
	params  map[string]string // service parameters
	after   string            // the event behind which a stream is taken up again; "" for none
}

// answer is what came back: bytes, an error, or a stream of both.
type answer struct {
	active string // extensions
	body   []byte
	fault  *fault
	stream items
}

// items are those of a stream.
type items interface {
	// next waits for the next one. It is false at the end.
	next() (item, bool)
	close()
}

type item struct {
	id    string // by which the stream is taken up behind it; "" where there is none
	body  []byte
	fault *fault
}

// fault is an error of the protocol, as a client reads it.
type fault struct {
	*protocolError
	// class is how the binding classes the error, as far as it does: JSON-RPC only says what is no answer to a request.
	class class
	// challenge says what credentials would do, and raw is all that came, but for what is of the connection.
	challenge []string
	raw       string
}

type protocolError = runtime.Error

// readStatus reads an error whose code is what its details give as the reason.
func readStatus(message string, details []byte) (*runtime.Error, error) {
	e, err := runtime.ReadError(fmt.Appendf(nil, `{"code":0,"message":%s,"data":%s}`, quote(message), details))
	if err != nil {
		return nil, err
	}
	for _, known := range []*runtime.Error{runtime.ErrUnauthenticated, runtime.ErrPermissionDenied, server.ErrBusy} {
		if e.Reason == known.Reason {
			e.Code = known.Code
		}
	}
	return e, nil
}

// row finds the operation that a version calls otherwise than 1.0 does; nil if it has none. What 0.3 lists over HTTP+JSON
// is an array without pages or tenants: not the same operation.
func (s *speaker) row(of *runtime.Operation) *runtime.Operation {
	if of.Role == runtime.RoleList && s.version.Rules.PlainErrors {
		return nil
	}
	i := slices.IndexFunc(s.table.Operations, func(op *runtime.Operation) bool {
		return op.Role == of.Role && (of.Role != runtime.RoleOther || op.RPC == of.RPC) && s.routed(op)
	})
	if i < 0 {
		return nil
	}
	return s.table.Operations[i]
}

// raw is a request as it stands, in the speaker's encoding. Only those of 1.0 have its words.
func (s *speaker) raw(op *runtime.Operation, request []byte) ([]byte, error) {
	switch {
	case s.version.Rules.PlainErrors:
		return nil, errNoWord
	case s.encoding != runtime.EncodingProto:
		return request, nil
	}
	service, method := path.Split(op.GRPC)
	d, err := definition()
	if err != nil {
		return nil, err
	}
	of := d.Services().ByName(protoreflect.FullName(strings.Trim(service, "/")).Name()).Methods().ByName(protoreflect.Name(method))
	m := dynamicpb.NewMessage(of.Input())
	if err := protojson.Unmarshal(request, m); err != nil {
		return nil, errNoWord // nor has protobuf
	}
	return proto.Marshal(m)
}

// definition is that of 1.0 as the official library knows it.
var definition = sync.OnceValues(func() (protoreflect.FileDescriptor, error) {
	src, err := spec.Source("1.0")
	if err != nil {
		return nil, err
	}
	return prototest.Compile(string(src))
})

// words are those in which a speaker writes a request: mostly those of its table.
func (s *speaker) words(op *runtime.Operation) *runtime.Operation {
	if !s.manner.schemaJSON || op.Role != runtime.RoleSend && op.Role != runtime.RoleStream {
		return op
	}
	i := slices.IndexFunc(s.version.Operations, func(o *runtime.Operation) bool { return o.Role == op.Role })
	return s.version.Operations[i]
}

// routed reports whether an operation can be called over the speaker's binding.
func (s *speaker) routed(op *runtime.Operation) bool {
	switch s.binding {
	case runtime.BindingHTTP:
		return len(op.HTTP) > 0
	case runtime.BindingGRPC:
		return op.GRPC != ""
	}
	return true
}

// at is where the card says that the speaker finds the agent.
func (s *speaker) at() string {
	switch s.binding {
	case runtime.BindingHTTP:
		return "/rest"
	case runtime.BindingGRPC:
		return "localhost:443"
	}
	return "/rpc"
}

// speakers are all that there are, the one first with which the others are compared.
func speakers(p *runtime.Protocol) (list []*speaker) {
	for _, row := range runtime.Bindings {
		binding := row.Name
		for _, v := range p.Versions {
			table := v.Over(binding)
			if table == nil {
				continue
			}
			for _, m := range manners[binding] {
				if m.version != "" && m.version != v.Name {
					continue
				}
				s := &speaker{version: v, table: table, binding: binding, encoding: encodingOf(v, table), manner: m}
				s.link = func(d door) (link, error) { return links[binding](s, d) }
				list = append(list, s)
			}
		}
	}
	return list
}

// encodingOf names the encoding of a version's table.
func encodingOf(v *runtime.Version, table *runtime.Table) string {
	for _, w := range v.Wires {
		if table == &w.Table {
			return w.Encoding
		}
	}
	return "json"
}

const (
	otherManner  = "snake_case, tenant in the path, POST to subscribe"
	schemaManner = "messages with kind and parts"
)

// manners are those with which each binding is spoken.
var manners = map[string][]manner{
	runtime.BindingJSONRPC: {{}},
	runtime.BindingHTTP: {
		{},
		{name: otherManner, snakeCase: true, tenantPath: true, postToJoin: true},
		{name: schemaManner, version: "0.3", schemaJSON: true},
	},
	runtime.BindingGRPC: {{}},
}

// links make what carries a speaker's calls.
var links = map[string]func(*speaker, door) (link, error){
	runtime.BindingJSONRPC: func(s *speaker, d door) (link, error) { return newRPCLink(s, d), nil },
	runtime.BindingHTTP:    func(s *speaker, d door) (link, error) { return newRESTLink(s, d), nil },
	runtime.BindingGRPC:    func(_ *speaker, d door) (link, error) { return newGRPCLink(d) },
}
