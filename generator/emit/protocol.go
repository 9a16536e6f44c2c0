package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Protocol prints what the runtime needs to work with the types: events.gen.go, where they implement its interfaces, and
// protocol.gen.go with func Protocol and the tables of operations.
func Protocol(p *ir.Protocol, paths Paths) ([]output.File, error) {
	b := &bound{Bindings: &p.Bindings}
	events, protocol := b.eventsFile(paths), newFile(paths.Protocol, pkgName(paths.Protocol))
	protocol.Add(doc("A runtime that this code does not fit does not declare the constant.")).Const().Id("_").Op("=").Add(rt("SupportsGen1")).Line()
	protocol.Add(b.protocolFunc(p))
	neutrals := map[string]bool{} // operations may share a request type, and versions do
	for _, v := range p.Versions {
		protocol.Add((&versionTable{bound: b, v: v, wire: jsonWire(v), neutrals: neutrals, several: len(p.Versions) > 1}).code())
		for _, w := range otherWires(v) {
			protocol.Add(wireTable(w)).Line()
		}
	}
	addAll(protocol, b.constructors(p)...)
	addAll(protocol, b.cardInfo(), b.cardAt())
	if usesAny(p) {
		protocol.Add(anyFuncs(p))
	}
	protocol.Add(b.helpers()) // last: now it is known which ones are called
	return renderAll(
		source{protocol, pkgFile(paths.Protocol, "protocol.gen.go")},
		source{events, pkgFile(paths.Protocol, "events.gen.go")},
	)
}

// jsonWire is the wire that a version's JSON-RPC binding speaks.
func jsonWire(v *ir.Version) *ir.Wire {
	for _, w := range v.Wires {
		if w.Encoding == ir.JSON {
			return w
		}
	}
	return nil
}

// protocolFunc prints func Protocol.
func (b *bound) protocolFunc(p *ir.Protocol) jen.Code {
	versions := jen.Index().Op("*").Add(rt("Version")).ValuesFunc(func(g *jen.Group) {
		for _, v := range p.Versions {
			g.Id(versionFunc(v)).Call()
		}
	})
	table, body := jen.Dict{}, []jen.Code{}
	if len(p.Versions) == 1 {
		table[jen.Id("Versions")] = versions
		table[jen.Id("DecodeCard")] = b.readCard(jsonWire(p.Versions[0]))
	} else { // the card may be of any of them
		body = append(body, jen.Id("versions").Op(":=").Add(versions))
		table[jen.Id("Versions")] = jen.Id("versions")
		table[jen.Id("DecodeCard")] = jen.Func().Params(jen.Id("src").Index().Byte()).Params(rt("Card"), jen.Error()).Block(
			jen.Return(hook("DecodeCard").Call(jen.Id("src"), jen.Id("versions"))),
		)
	}
	for member, name := range map[string]string{
		"NewTask": "newTask", "NewMessage": "newMessage", "NewStatus": "newStatus", "NewArtifact": "newArtifact", "NewSend": "newSend", "NewTaskRequest": "newTaskRequest",
	} {
		table[jen.Id(member)] = jen.Id(name)
	}
	if operation(p, ir.RoleList) != nil {
		table[jen.Id("NewTaskPage")] = jen.Id("newTaskPage")
	}
	s := jen.Add(doc("Protocol is what the runtime needs to know of this package. Every call makes a new table; the caller may change it."))
	return s.Func().Id("Protocol").Params().Op("*").Add(rt("Protocol")).Block(append(body, jen.Return(jen.Op("&").Add(rt("Protocol")).Values(table)))...).Line()
}

// readCard prints the function that reads a card as w has it.
func (b *bound) readCard(w *ir.Wire) jen.Code {
	return jen.Func().Params(jen.Id("src").Index().Byte()).Params(rt("Card"), jen.Error()).Block(
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Id(decodeFunc(w, b.AgentCard)).Call(jen.Id("src")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("c"), jen.Nil()),
	)
}

func versionFunc(v *ir.Version) string { return "version" + jsonWire(v).Suffix }

func decodeFunc(w *ir.Wire, t *ir.Type) string { return "decode" + t.Go + w.Suffix }

func readFunc(w *ir.Wire, t *ir.Type) string { return "read" + t.Go + w.Suffix }

func appendFunc(w *ir.Wire, t *ir.Type) string { return "append" + t.Go + w.Suffix }

// versionTable prints the table of one version in its JSON encoding.
type versionTable struct {
	*bound
	v    *ir.Version
	wire *ir.Wire
	// several: it is one of several versions.
	several bool
	// neutrals are the functions of neutral forms that are printed already.
	neutrals map[string]bool
}

func (t *versionTable) code() jen.Code {
	s := jen.Add(t.versionFunc()).Line()
	s.Add(t.appendEvent()).Line().Add(t.readEvent()).Line()
	for _, op := range t.v.Operations {
		s.Add(t.operationFunc(op)).Line()
		if name, code := t.neutral(op); code != nil && !t.neutrals[name] {
			t.neutrals[name] = true
			s.Add(code).Line()
		}
	}
	requests, all := t.decoded()
	for _, typ := range all {
		s.Add(t.decode(typ, slices.Contains(requests, typ))).Line()
	}
	return s
}

// versionFunc prints the function that makes the version.
func (t *versionTable) versionFunc() jen.Code {
	version := jen.Dict{
		jen.Id("Name"): jen.Lit(t.v.Name),
		jen.Id("Operations"): jen.Index().Op("*").Add(rt("Operation")).ValuesFunc(func(g *jen.Group) {
			for _, op := range t.v.Operations {
				g.Line().Id(t.operationName(op)).Call()
			}
			for _, op := range t.v.Operations { // last, so that a client takes the name proper
				for _, rpc := range op.Aliases {
					g.Line().Add(rt("Alias")).Call(jen.Id(t.operationName(op)).Call(), jen.Lit(rpc))
				}
			}
			g.Line()
		}),
		jen.Id("AppendEvent"): jen.Id("encodeEvent" + t.wire.Suffix),
		jen.Id("ReadEvent"):   jen.Id("parseEvent" + t.wire.Suffix),
		jen.Id("AppendCard"): jen.Func().Params(jen.Id("dst").Index().Byte(), jen.Id("c").Add(rt("Card"))).Params(jen.Index().Byte(), jen.Error()).Block(
			t.appendAs(t.AgentCard, "c")...,
		),
	}
	if t.several {
		version[jen.Id("ReadCard")] = t.readCard(t.wire)
	}
	if others := otherWires(t.v); len(others) > 0 {
		version[jen.Id("Wires")] = jen.Index().Op("*").Add(rt("Wire")).ValuesFunc(func(g *jen.Group) {
			for _, w := range others {
				g.Id(wireFunc(w)).Call()
			}
		})
	}
	if len(t.v.Rules) > 0 {
		version[jen.Id("Rules")] = rt("Rules").Values(t.rules())
	}
	return jen.Func().Id(versionFunc(t.v)).Params().Op("*").Add(rt("Version")).Block(jen.Return(jen.Op("&").Add(rt("Version")).Values(version))).Line()
}

// rules are the members of the version's rules.
func (t *versionTable) rules() jen.Dict {
	rules := jen.Dict{}
	for _, r := range t.v.Rules {
		if r.Text != "" {
			rules[jen.Id(r.Name)] = jen.Lit(r.Text)
		} else {
			rules[jen.Id(r.Name)] = jen.True()
		}
	}
	return rules
}

func (t *versionTable) operationName(op *ir.Operation) string {
	return "operation" + op.Go + t.wire.Suffix
}

// operationFunc prints the function that makes one row.
func (t *versionTable) operationFunc(op *ir.Operation) jen.Code {
	row := jen.Dict{
		jen.Id("Role"):          rt(roleNames[op.Role]),
		jen.Id("RPC"):           jen.Lit(op.RPC),
		jen.Id("Decode"):        t.decodeRequest(op),
		jen.Id("Append"):        t.appendResult(op),
		jen.Id("AppendRequest"): encoder(t.appendRequest(op)...),
		jen.Id("Read"):          t.readResult(op),
	}
	if op.GRPC != "" {
		row[jen.Id("GRPC")] = jen.Lit(op.GRPC)
	}
	if op.Stream {
		row[jen.Id("Stream")] = jen.True()
	}
	if len(op.HTTP) > 0 {
		row[jen.Id("HTTP")] = jen.Index().Add(rt("Route")).ValuesFunc(func(g *jen.Group) {
			for _, r := range op.HTTP {
				route := jen.Dict{jen.Id("Verb"): jen.Lit(r.Verb), jen.Id("Path"): jen.Lit(r.Path)}
				if r.Body != "" {
					route[jen.Id("Body")] = jen.Lit(r.Body)
				}
				g.Values(route)
			}
		})
	}
	return jen.Func().Id(t.operationName(op)).Params().Op("*").Add(rt("Operation")).Block(jen.Return(jen.Op("&").Add(rt("Operation")).Values(row))).Line()
}
