package emit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
)

// Protocol prints what the runtime needs to work with the types: events.gen.go, where they implement its interfaces, and
// protocol.gen.go with func Protocol and the tables of operations.
func Protocol(p *ir.Protocol, paths Paths) ([]output.File, error) {
	b := &bound{Bindings: &p.Bindings}
	events, protocol := b.eventsFile(paths), newFile(paths.Protocol, pkgName(paths.Protocol))
	protocol.Add(doc("A runtime that this code does not fit does not declare the constant.")).Const().Id("_").Op("=").Add(rt("SupportsGen1")).Line()
	protocol.Add(b.protocolFuncs(p))
	neutrals := map[string]bool{} // operations may share a request type, and versions do
	for _, v := range p.Written() {
		t := versionTable{bound: b, v: v, wire: jsonWire(v), ops: v.Operations, neutrals: neutrals, several: len(p.Versions) > 1, newest: v == p.Versions[0]}
		protocol.Add(t.code(t.versionFunc()))
		for _, w := range otherWires(v) {
			t := versionTable{bound: b, v: v, wire: w, ops: w.Operations, neutrals: neutrals}
			protocol.Add(t.code(t.wireFunc()))
		}
	}
	addAll(protocol, b.constructors(p)...)
	addAll(protocol, b.cardInfo(), b.cardAt(), b.interfaces(p), b.as(asTask, view{"Task", b.Task}), b.as(asMessage, view{"Message", b.Message}), b.as(asCard, view{"Card", b.AgentCard}))
	if usesAny(p) {
		protocol.Add(anyFuncs(p))
	}
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
	function := servedFunc
	if complete {
		function = versionFunc
	}
	list := func(versions []*ir.Version) jen.Code {
		return jen.Index().Op("*").Add(rt("Version")).ValuesFunc(func(g *jen.Group) {
			for _, v := range versions {
				g.Id(function(v)).Call()
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
		table.set("Whole", jen.Id(function(whole)).Call())
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
	return inGen("ReadCard").Call(readFunc(w, b.AgentCard), jen.Id(asCard))
}

// Functions that show a message to the runtime.
const (
	asTask    = "asTask"
	asMessage = "asMessage"
	asCard    = "asCard"
)

// as prints one of them.
func (b *bound) as(name string, v view) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("x").Add(ptr(v.t))).Add(rt(v.iface)).Add(oneLine(jen.Return(show(v.t, jen.Id("x"))))).Line()
}

// versionFunc and servedFunc are the functions that make a version: complete, and as most servers need it.
func versionFunc(v *ir.Version) string { return "newVersion" + versionSuffix(v) }

func servedFunc(v *ir.Version) string { return "servedVersion" + versionSuffix(v) }

func versionSuffix(v *ir.Version) string { return strings.TrimSuffix(jsonWire(v).Suffix, "JSON") }

// appendFunc is the function that writes a message on a wire.
func appendFunc(w *ir.Wire, t *ir.Type) *jen.Statement {
	return jen.Id("codec" + t.Go + w.Suffix).Dot("Append")
}

// readFunc is the function that reads a message on a wire.
func readFunc(w *ir.Wire, t *ir.Type) *jen.Statement {
	return jen.Id("codec" + t.Go + w.Suffix).Dot("Unmarshal")
}

// codecOf is the codec of a message.
func (t *versionTable) codecOf(typ *ir.Type) *jen.Statement {
	return jen.Id("codec" + typ.Go + t.wire.Suffix)
}

// requestFunc is a method of the codec of an operation's request, which may have another layout than the first one of
// its type.
func (t *versionTable) requestFunc(op *ir.Operation, method string) *jen.Statement {
	name := "codec" + op.Request.Type.Go + t.wire.Suffix
	if op.RequestAs != nil {
		name += op.RequestAs.Variant
	}
	return jen.Id(name).Dot(method)
}

// helper is the function of the runtime that makes a row's function of a codec: protobuf has its own.
func (t *versionTable) helper(json, proto string) *jen.Statement {
	if t.wire.Encoding == ir.Proto {
		return inGen(proto)
	}
	return inGen(json)
}

// versionTable prints the table of one version in one encoding.
type versionTable struct {
	*bound
	v    *ir.Version
	wire *ir.Wire
	ops  []*ir.Operation
	// several: it is one of several versions, newest: the first of them, in its JSON encoding.
	several, newest bool
	// neutrals are the functions that all versions share and that are printed already.
	neutrals map[string]bool
}

// code is the function that makes the table, and what its rows name.
func (t *versionTable) code(function jen.Code) jen.Code {
	s := jen.Add(function).Line()
	once := func(name string, code jen.Code) {
		if !t.neutrals[name] {
			t.neutrals[name] = true
			s.Add(code).Line()
		}
	}
	once("eventOf", t.eventOf())
	if slices.ContainsFunc(t.ops, func(op *ir.Operation) bool { return op.Role == ir.RoleSend }) {
		once("resultOf", t.resultOf())
	}
	for _, op := range t.ops {
		if name, code := t.neutral(op); code != nil {
			once(name, code)
		}
	}
	return s
}

// versionFunc prints the functions that make the version.
func (t *versionTable) versionFunc() jen.Code {
	operations, body := t.operations(), []jen.Code{}
	if aliases := t.aliases(); len(aliases) > 0 {
		body = append(body, jen.Id("operations").Op(":=").Add(operations))
		operations = jen.Append(append([]jen.Code{jen.Id("operations")}, multiline(aliases)...)...)
	}
	version := members(
		"Name", jen.Lit(t.v.Name),
		"Table", t.table(operations),
		"AppendCard", inGen("AppendCard").Call(appendFunc(t.wire, t.AgentCard)),
	)
	if t.several {
		version.set("ReadCard", t.readCard(t.wire))
	}
	if len(t.v.Rules) > 0 {
		version.set("Rules", rt("Rules").Values(t.rules().code()...))
	}
	if others := otherWires(t.v); len(others) > 0 {
		version.set("Wires", jen.Index().Op("*").Add(rt("Wire")).ValuesFunc(func(g *jen.Group) {
			for _, w := range others {
				g.Id(servedWireFunc(w)).Call()
			}
		}))
	}
	s := jen.Func().Id(servedFunc(t.v)).Params().Op("*").Add(rt("Version")).Block(
		append(body, jen.Return(jen.Op("&").Add(rt("Version")).Values(version.lines()...)))...).Line().Line()
	complete := []jen.Code{jen.Id("v").Op(":=").Id(servedFunc(t.v)).Call(), t.complete(jen.Id("v"))}
	for i, w := range otherWires(t.v) {
		complete = append(complete, jen.Id("v").Dot("Wires").Index(jen.Lit(i)).Op("=").Id(wireFunc(w)).Call())
	}
	return s.Func().Id(versionFunc(t.v)).Params().Op("*").Add(rt("Version")).Block(append(complete, jen.Return(jen.Id("v")))...).Line()
}

// complete adds to the table x what most servers do not need: of each row, and of those of other names.
func (t *versionTable) complete(x *jen.Statement) jen.Code {
	var rows, others []jen.Code
	for _, op := range t.ops {
		rest := jen.Values(t.rest(op)...)
		rows = append(rows, rest)
		for range op.Aliases {
			others = append(others, rest)
		}
	}
	list := jen.Index().Add(rt("Operation")).Values(multiline(append(rows, others...))...)
	return inGen("Complete").Call(x.Dot("Operations"), list)
}

// table is the version in the encoding of the wire.
func (t *versionTable) table(operations jen.Code) jen.Code {
	return rt("Table").Values(members(
		"Operations", operations,
		"AppendEvent", inGen("AppendEvent").Call(t.codecOf(t.StreamItem).Dot("AppendCase")),
		"ReadEvent", inGen("ReadEvent").Call(readFunc(t.wire, t.StreamItem), jen.Id("eventOf")),
	).lines()...)
}

// operations is the list of the version's rows.
func (t *versionTable) operations() *jen.Statement {
	rows := make([]jen.Code, len(t.ops))
	for i, op := range t.ops {
		rows[i] = jen.Values(t.row(op)...)
	}
	return jen.Index().Op("*").Add(rt("Operation")).Values(multiline(rows)...)
}

// aliases are the rows of other names. They come last, so that a client takes the name proper.
func (t *versionTable) aliases() (rows []jen.Code) {
	for i, op := range t.ops {
		for _, rpc := range op.Aliases {
			rows = append(rows, inGen("Alias").Call(jen.Id("operations").Index(jen.Lit(i)), jen.Lit(rpc)))
		}
	}
	return rows
}

// rules are the members of the version's rules.
func (t *versionTable) rules() *literal {
	rules := members()
	for _, r := range t.v.Rules {
		if r.Text != "" {
			rules.set(r.Name, jen.Lit(r.Text))
		} else {
			rules.set(r.Name, jen.True())
		}
	}
	return rules
}

// row is one operation, as far as most servers need it: what it is called, its routes, what it reads and writes.
func (t *versionTable) row(op *ir.Operation) []jen.Code {
	names, route, codecs := members("Role", rt(roleConstant(op.Role)), "RPC", jen.Lit(op.RPC)), members(), members()
	if op.GRPC != "" {
		names.set("GRPC", jen.Lit(op.GRPC))
	}
	if op.Stream {
		names.set("Stream", jen.True())
	}
	if len(op.HTTP) > 0 {
		route.set("HTTP", jen.Index().Add(rt("Route")).Values(routes(op)...))
	}
	if fields := t.queryFields(op); len(fields) > 0 {
		route.set("Query", jen.Index().Add(rt("QueryField")).Values(fields...))
	}
	if !ofPush(op) {
		t.setServerSide(codecs, op)
	}
	request := members()
	if sends(op) {
		request.set("AppendRequest", t.appendRequest(op))
	}
	return together(names, route, codecs, request)
}

// rest is what an operation has beside its row: the codecs of push configurations, and what is for clients.
func (t *versionTable) rest(op *ir.Operation) []jen.Code {
	server, client := members(), members()
	if ofPush(op) {
		t.setServerSide(server, op)
	}
	if !sends(op) {
		client.set("AppendRequest", t.appendRequest(op))
	}
	client.set("Read", t.readResult(op))
	return together(server, client)
}

func (t *versionTable) setServerSide(row *literal, op *ir.Operation) {
	row.set("Decode", t.decodeRequest(op))
	row.set("Append", t.appendResult(op))
}

// ofPush reports whether only agents that send push notifications carry the operation out.
func ofPush(op *ir.Operation) bool { return runtime.RoleNamed(string(op.Role)).OfPush() }

// sends reports whether servers, too, write the request: by it they keep messages, and know them again.
func sends(op *ir.Operation) bool { return runtime.RoleNamed(string(op.Role)).Sends() }

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
