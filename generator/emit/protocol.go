package emit

import (
	"cmp"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Protocol prints what the runtime needs to work with the types: events.gen.go, where they implement its interfaces, and
// protocol.gen.go with func Protocol and the tables of operations.
func Protocol(p *ir.Protocol, paths Paths) ([]output.File, error) {
	b := &bound{Bindings: &p.Bindings}
	events, protocol := b.eventsFile(paths), newFile(paths.Protocol, pkgName(paths.Protocol))
	protocol.PackageComment(protocolDoc(p, paths))
	protocol.Add(doc("A runtime that this code does not fit does not declare the constant.")).Const().Id("_").Op("=").Add(rt("SupportsGen1")).Line()
	protocol.Add(b.protocolFuncs(p))
	for _, v := range p.Written() {
		t := versionTable{bound: b, v: v, wire: jsonWire(v), ops: v.Operations, several: len(p.Versions) > 1}
		protocol.Add(t.versionFunc())
		for _, w := range otherWires(v) {
			t := versionTable{bound: b, v: v, wire: w, ops: w.Operations}
			protocol.Add(t.wireFunc())
		}
	}
	addAll(protocol, b.shapes(p)...)
	list := []jen.Code{b.newTask(), b.newMessage(), b.newStatus(), b.newArtifact()}
	if op := operation(p, ir.RoleList); op != nil {
		list = append(list, b.newTaskPage(op.Response.Type))
	}
	list = append(list, b.newSend(operation(p, ir.RoleSend).Request.Type), b.newTaskRequest(p))
	addAll(protocol, append(list, b.pushFuncs(p)...)...)
	addAll(protocol, b.cardInfo(), b.cardAt(), b.interfaces(p), b.as(asMessage, view{"Message", b.Message}), b.as(asCard, view{"Card", b.AgentCard}))
	if usesAny(p) {
		protocol.Add(anyFuncs(p))
	}
	return renderAll(
		source{protocol, pkgFile(paths.Protocol, "protocol.gen.go")},
		source{events, pkgFile(paths.Protocol, "events.gen.go")},
	)
}

// protocolDoc is the comment of the protocol package.
func protocolDoc(p *ir.Protocol, paths Paths) string {
	var versions, bytes []string
	for _, v := range p.Versions {
		versions = append(versions, v.Name)
	}
	if w := newest(p, ir.JSON); w != nil {
		bytes = append(bytes, "AppendJSON, MarshalJSON and UnmarshalJSON of a message write and read it as "+w.Name)
	}
	if w := newest(p, ir.Proto); w != nil {
		bytes = append(bytes, "AppendProto and UnmarshalProto as "+w.Name)
	}
	return packageDoc("Package " + pkgName(paths.Protocol) + " has the types of the Agent2Agent protocol, version " + cleanText(strings.Join(versions, ", ")) +
		", with their codecs.\nPackage " + clientFolder + " in its folder has a client of its operations.\n\n" +
		cleanText(strings.Join(bytes, ", ")) + ". An error, which is a [*wire.Error], says which member cannot be written or read; a message that could not be read is incomplete.")
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

// protocolFuncs print func Protocol, func ServerProtocol and func ClientProtocol: the versions of the agent, as much of them as most
// agents need, and those of clients. A program links the codecs of what it calls.
func (b *bound) protocolFuncs(p *ir.Protocol) jen.Code {
	served := p.Served()
	s := jen.Add(doc("Protocol is what the runtime needs to know of this package, with the versions that the agent speaks. Every call makes a new table; the caller may change it."))
	s.Func().Id("Protocol").Params().Op("*").Add(rt("Protocol")).Block(b.protocolTable(p, served, true)...).Line().Line()
	s.Add(doc(serverProtocol + " is [Protocol] for a server that sends no push notifications: it lacks their codecs, and all that is for clients."))
	s.Func().Id(serverProtocol).Params().Op("*").Add(rt("Protocol")).Block(b.protocolTable(p, served, false)...).Line().Line()
	all := b.protocolTable(p, p.Versions, true)
	if len(served) == len(p.Versions) {
		all = []jen.Code{jen.Return(jen.Id("Protocol").Call())}
	}
	s.Add(doc(clientProtocol + " is [Protocol] for what calls other agents: it has the versions that their cards demand, too."))
	return s.Func().Id(clientProtocol).Params().Op("*").Add(rt("Protocol")).Block(all...).Line()
}

// The functions with the versions of clients, and with what an agent's server needs.
const (
	clientProtocol = "ClientProtocol"
	serverProtocol = "ServerProtocol"
)

// protocolTable returns the runtime's table with some of the versions, complete or as most servers need them. Tasks are kept as the first
// version of the package has them, whether that is spoken or not, and cards are read as it has them.
func (b *bound) protocolTable(p *ir.Protocol, spoken []*ir.Version, complete bool) []jen.Code {
	list := func(versions []*ir.Version) jen.Code {
		return jen.Index().Op("*").Add(rt("Version")).ValuesFunc(func(g *jen.Group) {
			for _, v := range versions {
				g.Id(versionFunc(v)).Call(jen.Lit(complete))
			}
		})
	}
	table, body, whole := members("Versions", list(spoken)), []jen.Code{}, p.Whole
	readCard := b.readCard(jsonWire(p.Versions[0]))
	readable := jen.Id("versions")
	if spoken[0] != p.Versions[0] {
		whole = cmp.Or(whole, p.Versions[0])
		readable = jen.Append(list(p.Versions[:1]), jen.Id("versions").Op("..."))
	}
	if len(spoken) > 1 || spoken[0] != p.Versions[0] { // the card may be of any of them
		body = append(body, jen.Id("versions").Op(":=").Add(list(spoken)))
		table = members("Versions", jen.Id("versions"))
		readCard = jen.Func().Params(jen.Id("src").Index().Byte()).Params(rt("Card"), jen.Error()).Block(
			jen.Return(hook("DecodeCard").Call(jen.Id("src"), readable)),
		)
	}
	for _, name := range []string{"NewTask", "NewMessage", "NewStatus", "NewArtifact"} {
		table.set(name, jen.Id(unexported(name)))
	}
	if operation(p, ir.RoleList) != nil {
		table.set("NewTaskPage", jen.Id("newTaskPage"))
	}
	table.set("DecodeCard", readCard)
	table.set("Card", inGen("CardOf").Call(jen.Id(asCard)))
	table.set("NewSend", jen.Id("newSend"))
	if whole != nil {
		table.set("Whole", jen.Id(versionFunc(whole)).Call(jen.Lit(complete)))
	}
	if complete {
		for _, name := range append([]string{"NewTaskRequest"}, b.pushConstructors(p)...) {
			table.set(name, jen.Id(unexported(name)))
		}
	}
	return append(body, jen.Return(jen.Op("&").Add(rt("Protocol")).Values(table.code()...)))
}

// unexported is a name with a small first letter.
func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// readCard is the function that reads a card as w has it.
func (b *bound) readCard(w *ir.Wire) *jen.Statement {
	return inGen("ReadCard").Call(jen.Id("codec"+b.AgentCard.Go+w.Suffix).Dot("Unmarshal"), jen.Id(asCard))
}

// Functions that show a message to the runtime.
const (
	asMessage = "asMessage"
	asCard    = "asCard"
)

// as prints one of them.
func (b *bound) as(name string, v view) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("x").Add(ptr(v.t))).Add(rt(v.iface)).Add(oneLine(jen.Return(show(v.t, jen.Id("x"))))).Line()
}

// versionFunc is the function that makes a version: complete, or as most servers need it.
func versionFunc(v *ir.Version) string {
	return "newVersion" + strings.TrimSuffix(jsonWire(v).Suffix, "JSON")
}

// codecOf refers to the codec of a message on a wire.
func codecOf(w *ir.Wire, t *ir.Type) *jen.Statement { return jen.Op("&").Id("codec" + t.Go + w.Suffix) }

// versionTable prints the table of one version in one encoding.
type versionTable struct {
	*bound
	v    *ir.Version
	wire *ir.Wire
	ops  []*ir.Operation
	// several: it is one of several versions, in its JSON encoding.
	several bool
}

// allOrServed is the parameter of functions that make versions and wires.
func allOrServed() jen.Code { return jen.Id("all").Bool() }

// versionFunc prints the function that makes the version.
func (t *versionTable) versionFunc() jen.Code {
	version := members(
		"Name", jen.Lit(t.v.Name),
		"Table", t.table(),
		"AppendCard", inGen("AppendCard").Call(jen.Id("codec"+t.AgentCard.Go+t.wire.Suffix).Dot("Append")),
	)
	if t.several {
		version.set("ReadCard", t.readCard(t.wire))
	}
	if len(t.v.Rules) > 0 {
		rules := members()
		for _, r := range t.v.Rules {
			if r.Text != "" {
				rules.set(r.Name, jen.Lit(r.Text))
			} else {
				rules.set(r.Name, jen.True())
			}
		}
		version.set("Rules", rt("Rules").Values(rules.code()...))
	}
	if others := otherWires(t.v); len(others) > 0 {
		version.set("Wires", jen.Index().Op("*").Add(rt("Wire")).ValuesFunc(func(g *jen.Group) {
			for _, w := range others {
				g.Id(wireFunc(w)).Call(jen.Id("all"))
			}
		}))
	}
	return jen.Func().Id(versionFunc(t.v)).Params(allOrServed()).Op("*").Add(rt("Version")).Block(
		jen.Return(jen.Op("&").Add(rt("Version")).Values(version.lines()...))).Line()
}

// table is the version in the encoding of the wire.
func (t *versionTable) table() jen.Code {
	rows := make([]jen.Code, len(t.ops))
	for i, op := range t.ops {
		rows[i] = jen.Values(t.row(op)...)
	}
	return inGen("Table").Call(t.boxed(), jen.Id("views"), codecOf(t.wire, t.StreamItem), jen.Id("all"),
		jen.Index().Add(inGen("Row")).Values(multiline(rows)...))
}

// boxed is what reads and writes by the codecs of the wire.
func (t *versionTable) boxed() jen.Code {
	if t.wire.Encoding == ir.Proto {
		return jen.Qual(protoPath, "Boxed").Values()
	}
	return jen.Qual(wirePath, "Boxed").Values()
}

// row is one operation: what it is called, its routes, and its codecs.
func (t *versionTable) row(op *ir.Operation) []jen.Code {
	names, route, codecs := members("Role", rt(roleConstant(op.Role)), "RPC", jen.Lit(op.RPC)), members(), members()
	if op.GRPC != "" {
		names.set("GRPC", jen.Lit(op.GRPC))
	}
	if op.Stream {
		names.set("Stream", jen.True())
	}
	if len(op.Aliases) > 0 {
		names.set("Aliases", stringsOf(op.Aliases))
	}
	if len(op.HTTP) > 0 {
		route.set("HTTP", jen.Index().Add(rt("Route")).Values(routes(op)...))
	}
	if fields := t.queryFields(op); len(fields) > 0 {
		route.set("Query", jen.Index().Add(rt("QueryField")).Values(fields...))
	}
	t.setCodecs(codecs, op)
	if len(*route) == 0 {
		return append(*names, *codecs...)
	}
	return together(names, route, codecs)
}

// routes are the HTTP bindings of an operation, each on a line.
func routes(op *ir.Operation) (list []jen.Code) {
	for _, r := range op.HTTP {
		route := members("Verb", jen.Lit(r.Verb), "Path", jen.Lit(r.Path))
		if r.Body != "" {
			route.set("Body", jen.Lit(r.Body))
		}
		list = append(list, jen.Values(*route...))
	}
	return list
}
