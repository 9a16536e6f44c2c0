package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// ExtensionFile is the name of the file with what an extension's package has beside its types.
const ExtensionFile = "extension.gen.go"

// Extension prints the package of an extension: its contract, its types, and what attaches and reads their values.
func Extension(x *ir.Extension, importPath string) ([]output.File, error) {
	f := newFile(importPath, pkgName(importPath))
	f.ImportName(extensionPath, "extension")
	f.PackageComment(packageDoc("Package "+x.Package+" is the extension "+x.URI+" of the protocol: the types of what it carries, for agents and their clients.",
		extensionExample(x)...))
	f.Add(doc("URI names the extension and its version.")).Const().Id("URI").Op("=").Lit(x.URI).Line()
	f.Add(extensionContract(x))
	f.Add(doc("Active reports whether a handler may send the extension's values: its caller asked for them" + alwaysDoc(x) + ".")).
		Func().Id("Active").Params(extensionTask()).Bool().Block(jen.Return(jen.Id("Contract").Dot("Active").Call(jen.Id("t")))).Line()
	for _, fn := range extensionFuncs {
		if r := fn.of(x); r != nil {
			f.Add(doc(fn.name + " " + fn.doc)).Add(fn.print(fn.name, r.Name))
		}
	}
	main, err := render(f, pkgFile(importPath, ExtensionFile))
	if err != nil || len(x.Types) == 0 {
		return []output.File{main}, err
	}
	types, err := dataOf(x.Types, importPath, pkgFile(importPath, TypesFile), "", "the extension")
	return []output.File{main, types}, err
}

func alwaysDoc(x *ir.Extension) string {
	if x.Always {
		return ", or everybody gets them, as with this one"
	}
	return ""
}

// extensionExample is the example of the package's comment.
func extensionExample(x *ir.Extension) []string {
	switch {
	case x.Artifact != nil:
		return []string{
			"a := runtime.ArtifactData{Name: \"plan\", Parts: parts}",
			"if err := " + x.Package + ".OnArtifact(t, &a, value); err != nil {", "\treturn nil, err", "}",
			"return nil, t.Emit(a)",
		}
	case x.Message != nil:
		return []string{"sent, err := " + x.Package + ".Of(t) // nil: the message has none"}
	}
	return []string{"if " + x.Package + ".Active(t) {"}
}

// extensionContract is what servers and clients know of the extension.
func extensionContract(x *ir.Extension) jen.Code {
	c := members("URI", jen.Id("URI"))
	if x.Key != "" {
		c.set("Key", jen.Lit(x.Key))
	}
	if x.Always {
		c.set("Always", jen.True())
	}
	if len(x.Methods) > 0 {
		c.set("Methods", jen.Index().String().Values(lits(x.Methods)...))
	}
	if x.MediaType != "" {
		c.set("MediaType", jen.Lit(x.MediaType))
	}
	for _, p := range []struct {
		name string
		ref  *ir.DataRef
	}{{"Request", x.Request}, {"Message", x.Message}, {"CallerPart", x.CallerPart}} {
		if p.ref != nil {
			c.set(p.name, jen.Qual(extensionPath, "Check").Types(jen.Id(p.ref.Name)))
		}
	}
	return jen.Add(doc("Contract is the extension as servers and clients know it.")).
		Var().Id("Contract").Op("=").Op("&").Qual(extensionPath, "Contract").Values(c.lines()...).Line()
}

func extensionTask() *jen.Statement { return jen.Id("t").Qual(extensionPath, "Task") }

// extensionFunc is a function of an extension's package for the values of one place.
type extensionFunc struct {
	name, doc string
	of        func(*ir.Extension) *ir.DataRef // the type of its values; nil: there is no such function
	print     func(name, typ string) jen.Code
}

const breaks = " A value that breaks its schema is an error that wraps a *check.Error."

var extensionFuncs = []extensionFunc{
	{"Of", "returns what the message being handled has of the extension; nil: nothing. The server has checked it.", messageOf, fromTask("Of")},
	{"OfRequest", "returns what the request that brought the message has of the extension; nil: nothing. The server has checked it.", requestOf, fromTask("OfRequest")},
	{"OnMessage", "puts a value on a message with which a handler answers, unless its caller did not ask for the extension." + breaks, messageOf, onData("OnMessage", "m", "MessageData")},
	{"OnStatus", "puts a value on the message of a status, unless the caller did not ask for the extension." + breaks, statusOf, onData("OnMessage", "m", "MessageData")},
	{"OnArtifact", "puts a value on an artifact, unless the caller did not ask for the extension." + breaks, artifactOf, onData("OnArtifact", "a", "ArtifactData")},
	{"OnResult", "puts a value on the artifact with the skill's output, unless the caller did not ask for the extension." + breaks, artifactOf, onResult},
	{"AppendPart", "appends a part with a value, unless the caller did not ask for the extension." + breaks, agentPartOf, appendPart},
	{"ReadMessage", "returns what a message's metadata hold of the extension; nil: nothing." + breaks, messageOf, fromMetadata},
	{"ReadStatus", "returns what the metadata of a status's message hold of the extension; nil: nothing." + breaks, statusOf, fromMetadata},
	{"ReadArtifact", "returns what an artifact's metadata hold of the extension; nil: nothing." + breaks, artifactOf, fromMetadata},
	{"ReadPart", "returns what a part that the agent sent has of the extension; nil: it is not the extension's." + breaks, agentPartOf, fromPart},
	{"NewCallerPart", "makes a part of a value, for a message to the agent." + breaks, callerPartOf, newPart},
	{"ReadCallerPart", "returns what a part that the caller sent has of the extension; nil: it is not the extension's." + breaks, callerPartOf, fromPart},
	{"ParseParams", "reads the params with which a card declares the extension." + breaks, paramsOf, parseParams},
}

func messageOf(x *ir.Extension) *ir.DataRef    { return x.Message }
func requestOf(x *ir.Extension) *ir.DataRef    { return x.Request }
func statusOf(x *ir.Extension) *ir.DataRef     { return x.Status }
func artifactOf(x *ir.Extension) *ir.DataRef   { return x.Artifact }
func agentPartOf(x *ir.Extension) *ir.DataRef  { return x.AgentPart }
func callerPartOf(x *ir.Extension) *ir.DataRef { return x.CallerPart }
func paramsOf(x *ir.Extension) *ir.DataRef     { return x.Params }

// reads is the result of a function that reads a value.
func reads(typ string) []jen.Code { return []jen.Code{jen.Op("*").Id(typ), jen.Error()} }

func fromTask(call string) func(name, typ string) jen.Code {
	return func(name, typ string) jen.Code {
		return jen.Func().Id(name).Params(extensionTask()).Params(reads(typ)...).Block(
			jen.Return(jen.Qual(extensionPath, call).Types(jen.Id(typ)).Call(jen.Id("t"), jen.Id("Contract"))),
		).Line()
	}
}

func onData(call, param, data string) func(name, typ string) jen.Code {
	return func(name, typ string) jen.Code {
		return jen.Func().Id(name).Params(extensionTask(), jen.Id(param).Op("*").Qual(runtimePath, data), jen.Id("v").Op("*").Id(typ)).Error().Block(
			jen.Return(jen.Qual(extensionPath, call).Call(jen.Id("t"), jen.Id("Contract"), jen.Id(param), jen.Id("v"))),
		).Line()
	}
}

func onResult(name, typ string) jen.Code {
	return jen.Func().Id(name).Params(extensionTask(), jen.Id("v").Op("*").Id(typ)).Error().Block(
		jen.Return(jen.Qual(extensionPath, "OnResult").Call(jen.Id("t"), jen.Id("Contract"), jen.Id("v"))),
	).Line()
}

func appendPart(name, typ string) jen.Code {
	parts := jen.Index().Qual(runtimePath, "Part")
	return jen.Func().Id(name).Params(extensionTask(), jen.Id("parts").Add(parts), jen.Id("v").Op("*").Id(typ)).
		Params(parts.Clone(), jen.Error()).Block(
		jen.Return(jen.Qual(extensionPath, "AppendPart").Call(jen.Id("t"), jen.Id("Contract"), jen.Id("parts"), jen.Id("v"))),
	).Line()
}

func fromMetadata(name, typ string) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("metadata").Qual(wirePath, "Object")).Params(reads(typ)...).Block(
		jen.Return(jen.Qual(extensionPath, "Read").Types(jen.Id(typ)).Call(jen.Id("Contract"), jen.Id("metadata"))),
	).Line()
}

func fromPart(name, typ string) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("p").Qual(runtimePath, "Part")).Params(reads(typ)...).Block(
		jen.Return(jen.Qual(extensionPath, "ReadPart").Types(jen.Id(typ)).Call(jen.Id("Contract"), jen.Id("p"))),
	).Line()
}

func newPart(name, typ string) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("v").Op("*").Id(typ)).Params(jen.Qual(runtimePath, "Part"), jen.Error()).Block(
		jen.Return(jen.Qual(extensionPath, "Part").Call(jen.Id("Contract"), jen.Id("v"))),
	).Line()
}

func parseParams(name, typ string) jen.Code {
	return jen.Func().Id(name).Params(jen.Id("params").Qual(wirePath, "Object")).Params(reads(typ)...).Block(
		jen.Id("v").Op(":=").New(jen.Id(typ)),
		jen.Return(jen.Id("v"), jen.Id("v").Dot("UnmarshalJSON").Call(jen.Id("params"))),
	).Line()
}

// ClientExtensionsFile is the name of the file with the options of a client for the extensions of its agent.
const ClientExtensionsFile = "extensions.gen.go"

// clientExtensions prints the options for the extensions of the agent; nothing without one.
func clientExtensions(a *ir.Agent, paths Paths, dir string) ([]output.File, error) {
	if len(a.Extensions) == 0 {
		return nil, nil
	}
	f := newFile(paths.Client, pkgName(paths.Client))
	for _, x := range a.Extensions {
		pkg := paths.Extensions + "/" + x.Package
		f.ImportName(pkg, x.Package)
		f.Add(askOption(x, pkg))
		if x.Request != nil {
			f.Add(valueOption(x.WithRequest, "asks for the extension "+x.URI+" and sends v in the metadata of the request.", "WithRequestExtension", pkg, x.Request.Name))
		}
		if x.CallerPart != nil {
			f.Add(valueOption(x.WithPart, "asks for the extension "+x.URI+" and sends v in a part behind the input.", "WithExtensionPart", pkg, x.CallerPart.Name))
		}
		if x.Params != nil {
			typ := jen.Qual(pkg, x.Params.Name)
			f.Add(doc(x.ParamsOf+" returns what the agent's card says of the extension "+x.URI+"; nil: the card does not declare it.")).
				Func().Id(x.ParamsOf).Params(jen.Id("c").Op("*").Id("Client")).Params(jen.Op("*").Add(typ), jen.Error()).Block(
				jen.Return(jen.Qual(clientPath, "ExtensionParams").Types(typ.Clone()).Call(jen.Id("c").Dot("RPC").Call(), jen.Qual(pkg, "Contract"))),
			).Line()
		}
	}
	file, err := render(f, dir+"/"+ClientExtensionsFile)
	return []output.File{file}, err
}

// askOption is the option that asks for an extension, with a value for the message where the extension has a type for it.
func askOption(x *ir.AgentExtension, pkg string) jen.Code {
	if x.Message == nil {
		return jen.Add(doc(x.With+" asks for the extension "+x.URI+".")).Func().Id(x.With).Params().Qual(clientPath, "CallOption").Block(
			jen.Return(jen.Qual(clientPath, "AskFor").Call(jen.Qual(pkg, "Contract"))),
		).Line()
	}
	return valueOption(x.With, fmt.Sprintf("asks for the extension %s and sends v with the message, unless it is nil.", x.URI), "WithExtension", pkg, x.Message.Name)
}

func valueOption(name, text, call, pkg, typ string) jen.Code {
	return jen.Add(doc(name+" "+text+" A value that breaks its schema is an error before anything is sent.")).
		Func().Id(name).Params(jen.Id("v").Op("*").Qual(pkg, typ)).Qual(clientPath, "CallOption").Block(
		jen.Return(jen.Qual(clientPath, call).Call(jen.Qual(pkg, "Contract"), jen.Id("v"))),
	).Line()
}

// extensionContracts are the extensions for the server.
func extensionContracts(list []*ir.AgentExtension, paths Paths) jen.Code {
	var values []jen.Code
	for _, x := range list {
		values = append(values, jen.Qual(paths.Extensions+"/"+x.Package, "Contract"))
	}
	return jen.Qual(extensionPath, "SetOf").Call(values...)
}
