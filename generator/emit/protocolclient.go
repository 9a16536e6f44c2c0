package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// clientFolder is the folder in the protocol package with the client of its operations, and the name of its package. It is a
// package of its own so that an agent does not compile what calls others.
const clientFolder = "a2aclient"

// ProtocolClientFile is the file of the protocol's client, in the folder of the protocol package.
const ProtocolClientFile = clientFolder + "/" + ClientFile

// protocolClientPath is the import path of the protocol's client.
func protocolClientPath(paths Paths) string { return paths.Protocol + "/" + clientFolder }

// ProtocolClient prints client.gen.go of package a2aclient: the typed client of an agent's operations.
func ProtocolClient(p *ir.Protocol, paths Paths) (output.File, error) {
	f := newFile(protocolClientPath(paths), clientFolder)
	f.ImportName(paths.Protocol, pkgName(paths.Protocol))
	f.PackageComment(protocolClientDoc(p, pkgName(paths.Protocol)))
	if len(p.Versions) > 0 {
		c := protocolClient{p: p, protocol: paths.Protocol}
		f.Add(c.declaration())
		for _, op := range p.Called() {
			f.Add(c.method(op, op.Method))
		}
	}
	return render(f, pkgFile(paths.Protocol, ProtocolClientFile))
}

// protocolClient knows what the methods of one client need.
type protocolClient struct {
	p        *ir.Protocol
	protocol string // import path of the protocol package
}

// protocolClientDoc is the comment of package a2aclient, with an example where there is an operation that sends a message.
func protocolClientDoc(p *ir.Protocol, pkg string) string {
	text := "Package " + clientFolder + " has a client of the operations of the Agent2Agent protocol."
	b, op := p.Bindings, operation(p, ir.RoleSend)
	if b.Values["MessageRole.user"] == nil || b.Fields["send.message"] == nil || op == nil {
		return packageDoc(text)
	}
	return packageDoc(text,
		"c, err := "+clientFolder+`.New(ctx, "https://agent.example.com")`, "if err != nil {", "\treturn err", "}", "defer c.Close()",
		fmt.Sprintf(`hello := %[1]s.NewMessage(%[1]s.%[2]s, %[1]s.Text("Hello"))`, pkg, b.Values["MessageRole.user"].Go),
		fmt.Sprintf("answer, err := c.%s(ctx, &%s.%s{%s: hello})", op.Go, pkg, op.Request.Type.Go, b.Fields["send.message"].Go),
	)
}

// declaration is the struct with its constructors and the methods that are no operations.
func (c *protocolClient) declaration() jen.Code {
	s := jen.Add(doc("Client calls the operations of one agent. It is safe for concurrent use.\n\nA request that names no tenant gets the one that the agent's card demands."))
	s.Type().Id("Client").Struct(jen.Id("rpc").Op("*").Qual(clientPath, "Client")).Line().Line()
	s.Add(doc("New fetches the agent's card and returns a client of the first interface in it that the protocol package\nspeaks. The URL is the agent's base URL, or that of the card itself when it ends in .json."))
	s.Func().Id("New").Params(ctxParam(), jen.Id("url").String(), optionsParam()).Params(jen.Op("*").Id("Client"), jen.Error()).Block(
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Qual(clientPath, "New").Call(jen.Id("ctx"), jen.Qual(c.protocol, clientProtocol).Call(), jen.Id("url"), jen.Id("opts").Op("...")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Op("&").Id("Client").Values(jen.Id("rpc").Op(":").Id("c")), jen.Nil()),
	).Line().Line()
	s.Add(c.fromCard())
	s.Add(doc("RPC returns the untyped client below: the interface in use, waiting for tasks, the calls of skills."))
	s.Func().Params(receiver()).Id("RPC").Params().Op("*").Qual(clientPath, "Client").Block(jen.Return(jen.Id("c").Dot("rpc"))).Line().Line()
	s.Add(doc("Close lets go of idle connections."))
	s.Func().Params(receiver()).Id("Close").Params().Block(jen.Id("c").Dot("rpc").Dot("Close").Call()).Line()
	return s
}

// fromCard is the constructor that takes a card, and the accessor of the card.
func (c *protocolClient) fromCard() jen.Code {
	card := c.p.Bindings.AgentCard
	if card == nil {
		return jen.Null()
	}
	s := jen.Add(doc("FromCard returns a client of the first interface in the card that the protocol package speaks.\nIt makes no request."))
	s.Func().Id("FromCard").Params(jen.Id("card").Add(c.ptr(card)), optionsParam()).Params(jen.Op("*").Id("Client"), jen.Error()).Block(
		jen.Id("p").Op(":=").Qual(c.protocol, clientProtocol).Call(),
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Qual(clientPath, "FromCard").Call(jen.Id("p"), jen.Id("p").Dot("Card").Call(jen.Id("card")), jen.Id("opts").Op("...")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Op("&").Id("Client").Values(jen.Id("rpc").Op(":").Id("c")), jen.Nil()),
	).Line().Line()
	s.Add(doc("Card returns the agent's card. The caller must not change it."))
	s.Func().Params(receiver()).Id("Card").Params().Add(c.ptr(card)).Block(
		jen.List(jen.Id("card"), jen.Id("_")).Op(":=").Id("c").Dot("rpc").Dot("Card").Call().Dot("Generated").Call().Assert(c.ptr(card)),
		jen.Return(jen.Id("card")),
	).Line().Line()
	return s
}

// method is the typed method of one operation.
func (c *protocolClient) method(op *ir.Operation, name string) jen.Code {
	text := op.Doc
	if !strings.HasPrefix(text, name+" ") {
		text = strings.TrimSpace(name + " calls the operation " + op.RPC + ".\n\n" + text)
	}
	s := jen.Line().Add(doc(text))
	s.Func().Params(receiver()).Id(name).ParamsFunc(func(g *jen.Group) {
		g.Add(ctxParam())
		if op.Request.Kind == ir.KindMessage {
			g.Id("req").Add(c.ptr(op.Request.Type))
		}
		g.Id("opts").Op("...").Qual(clientPath, "CallOption")
	})
	request := jen.Nil()
	if op.Request.Kind == ir.KindMessage {
		request = jen.Id("req")
	}
	run := []jen.Code{jen.Id("ctx"), rpcMethod(op), request, jen.Id("opts").Op("...")}
	result := c.result(op.Response)
	switch {
	case op.Stream:
		s.Qual("iter", "Seq2").Types(result, jen.Error()).Block(
			jen.Return(inGen("EachAs").Types(result).Call(jen.Id("c").Dot("rpc").Dot("Stream").Call(run...))))
	case op.Response.Kind == ir.KindEmpty:
		s.Error().Block(
			jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("c").Dot("rpc").Dot("Call").Call(run...),
			jen.Return(jen.Err()))
	default:
		s.Params(result, jen.Error()).Block(
			jen.Return(inGen("As").Types(result).Call(jen.Id("c").Dot("rpc").Dot("Call").Call(run...))))
	}
	return s
}

// result is the Go type of an operation's result: the union itself where the message is nothing but a union.
func (c *protocolClient) result(t ir.TypeRef) jen.Code {
	if t.Kind != ir.KindMessage {
		return goType(t)
	}
	if t.Type == c.p.Bindings.SendResult || t.Type == c.p.Bindings.StreamItem {
		for _, f := range t.Type.Fields {
			if f.Union != nil {
				return jen.Qual(c.protocol, f.Union.Go)
			}
		}
	}
	return c.ptr(t.Type)
}

// ptr is the Go type of a pointer to a message.
func (c *protocolClient) ptr(t *ir.Type) *jen.Statement { return jen.Op("*").Qual(c.protocol, t.Go) }

// rpcMethod names the operation for the runtime: by role, so that another version's name for it is found too.
func rpcMethod(op *ir.Operation) jen.Code {
	return jen.Qual(clientPath, "Method").Values(jen.Id("Role").Op(":").Qual(runtimePath, roleConstant(op.Role)), jen.Id("RPC").Op(":").Lit(op.RPC))
}

// roleConstant is the name of the runtime's constant of a role: "RolePushGet".
func roleConstant(role ir.Role) string {
	return "Role" + strings.ToUpper(string(role[:1])) + string(role[1:])
}

func receiver() jen.Code { return jen.Id("c").Op("*").Id("Client") }

func ctxParam() jen.Code { return jen.Id("ctx").Qual("context", "Context") }

func optionsParam() jen.Code { return jen.Id("opts").Op("...").Qual(clientPath, "Option") }
