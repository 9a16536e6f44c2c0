package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime"
)

// FakeFile is the name of the file with the fake of an agent.
const FakeFile = "fake.gen.go"

// Fake prints the package with the fake of an agent, for the tests of programs that call it by the client at paths.Client. paths.Fake
// is the package's import path, dir its folder, slash-separated and relative to the project. The fake of the project's own agent
// has the card from paths.Agent, which is "" for somebody else's. samples are made-up outputs by the skill's
// id.
func Fake(p *ir.Protocol, a *ir.Agent, paths Paths, dir string, samples map[string]string) ([]output.File, error) {
	if len(a.Skills) == 0 {
		return nil, nil
	}
	k := fakePackage{skillClient{agent: a, protocol: p, paths: paths, types: paths.Client}, samples}
	f := newFile(paths.Fake, pkgName(paths.Fake))
	for _, path := range []string{paths.Protocol, paths.Agent, paths.Client} {
		f.ImportName(path, pkgName(path))
	}
	f.ImportName(a2atestPath, "a2atest")
	f.PackageComment(k.doc())
	addAll(f, k.declaration(), k.constructor(), k.handlers(), k.client())
	file, err := render(f, dir+"/"+FakeFile)
	return []output.File{file}, err
}

// fakePackage knows what the fake of an agent needs.
type fakePackage struct {
	skillClient
	samples map[string]string
}

// doc is the package's comment, with a test of what calls the first skill.
func (k *fakePackage) doc() string {
	name, s := pkgName(k.paths.Fake), k.agent.Skills[0]
	return packageDoc(
		"Package "+name+" has a fake of the agent, for tests of what calls it: the real server in this process, without a socket, "+
			"whose skills answer what the test says.",
		"f := "+name+".NewFake(t)",
		"f."+s.Fake.Field+".Returns(out)",
		"got, err := f.Client(t)."+s.Client.Call+"(t.Context(), in)",
		"if err != nil {",
		"\tt.Fatal(err)",
		"}",
		"if calls := f."+s.Fake.Field+".Calls(); len(calls) != 1 {",
		"\tt.Errorf(\"it was called %d times\", len(calls))",
		"}",
	)
}

// declaration is the type of the fake.
func (k *fakePackage) declaration() jen.Code {
	s := jen.Add(doc(fmt.Sprintf("Fake fakes the agent %q: a call that no answer was set for fails the test. It has a field for each skill, which says what the skill answers.", k.agent.Name)))
	fields := []jen.Code{jen.Op("*").Qual(a2atestPath, "Fake").Line()}
	for _, skill := range k.agent.Skills {
		fields = append(fields, jen.Id(skill.Fake.Field).Op("*").Add(k.skillType(skill)))
	}
	return s.Type().Id("Fake").Struct(fields...).Line().Line()
}

// skillType is the fake of a skill: of its input and output, which are texts where the card gives no schema.
func (k *fakePackage) skillType(s *ir.Skill) jen.Code {
	return jen.Qual(a2atestPath, "Skill").Types(k.value(s.Input), k.value(s.Output))
}

// value is the type of an input or output.
func (k *fakePackage) value(ref *ir.DataRef) jen.Code {
	if ref == nil {
		return jen.String()
	}
	return jen.Op("*").Qual(k.types, ref.Name)
}

// constructor is NewFake.
func (k *fakePackage) constructor() jen.Code {
	var made, skills []jen.Code
	for _, s := range k.agent.Skills {
		made = append(made, jen.Id(s.Fake.Field).Op(":").Add(jen.Qual(a2atestPath, "NewSkill").Types(k.value(s.Input), k.value(s.Output)).Call(jen.Lit(s.ID), jen.Lit(s.Fake.Field))))
		skills = append(skills, jen.Id("f").Dot(s.Fake.Field))
	}
	config := members("Name", jen.Lit(k.agent.Name), "Protocol", jen.Qual(k.paths.Protocol, clientProtocol).Call(), "Card", jen.Id("card"))
	config.set("Skills", jen.Index().Qual(a2atestPath, "AnySkill").Values(multiline(skills)...))
	if list := k.sampleOutputs(); len(list) > 0 {
		config.set("Samples", jen.Map(jen.String()).String().Values(multiline(list)...))
	}
	if len(k.agent.Extensions) > 0 {
		config.set("Extensions", extensionContracts(k.agent.Extensions, k.paths))
	}
	if list := k.bindings(); len(list) > 0 {
		config.set("Bindings", jen.Index().Qual(a2atestPath, "Binding").Values(multiline(list)...))
	}
	body := append([]jen.Code{jen.Id("t").Dot("Helper").Call()}, k.card()...)
	body = append(body,
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err())),
		jen.Id("f").Op(":=").Op("&").Id("Fake").Values(multiline(made)...),
		jen.Id("f").Dot("Fake").Op("=").Qual(a2atestPath, "NewFake").Call(jen.Id("t"), jen.Qual(a2atestPath, "FakeConfig").Values(config.lines()...), jen.Id("opts").Op("...")),
		jen.Return(jen.Id("f")),
	)
	s := jen.Add(doc("NewFake makes a fake, which is there until the test ends."))
	return s.Func().Id("NewFake").Params(testParam(), jen.Id("opts").Op("...").Qual(a2atestPath, "Option")).Op("*").Id("Fake").Block(body...).Line().Line()
}

// card reads the agent's card: the one of the own agent that has all skills, or that from which the client was made.
func (k *fakePackage) card() []jen.Code {
	both := jen.List(jen.Id("card"), jen.Err()).Op(":=")
	switch {
	case k.paths.Agent == "":
		return []jen.Code{both.Qual(k.paths.Client, "Card").Call()}
	case k.agent.Extended == nil:
		return []jen.Code{both.Qual(k.paths.Agent, "Card").Call()}
	}
	return []jen.Code{
		jen.Id("card").Op(":=").New(jen.Qual(k.paths.Protocol, k.protocol.Bindings.AgentCard.Go)),
		jen.Err().Op(":=").Id("card").Dot("UnmarshalJSON").Call(jen.Index().Byte().Parens(jen.Qual(k.paths.Agent, "ExtendedCardJSON"))),
	}
}

// sampleOutputs are the made-up outputs, by skill.
func (k *fakePackage) sampleOutputs() (list []jen.Code) {
	for _, s := range k.agent.Skills {
		if text, ok := k.samples[s.ID]; ok {
			list = append(list, jen.Lit(s.ID).Op(":").Add(stringLiteral(text)))
		}
	}
	return list
}

// bindings are those of the client that the kit does not link.
func (k *fakePackage) bindings() (list []jen.Code) {
	for _, b := range runtime.Bindings {
		if b.Client == "" || !slices.Contains(k.agent.Calls.Links, b.Client) {
			continue
		}
		dialer := jen.Qual(modulePath+b.Client, "Dialer").Call(jen.Id("a").Dot("Dial"))
		call := jen.Func().Params(jen.Id("a").Op("*").Qual(a2atestPath, "Agent")).Qual(clientPath, "Option").Block(
			jen.Return(jen.Qual(clientPath, "Use").Call(jen.Qual(modulePath+b.Client, "Binding").Call(dialer))),
		)
		list = append(list, jen.Values(members("Name", jen.Lit(b.Name), "Server", jen.Qual(modulePath+b.Server, "Serve").Call(), "Client", call).lines()...))
	}
	return list
}

// handlers are the methods that give skills a handler.
func (k *fakePackage) handlers() jen.Code {
	all := jen.Null()
	for _, s := range k.agent.Skills {
		name := "in"
		if s.Input == nil {
			name = "text"
		}
		handler := jen.Func().Params(ctxParam(), jen.Id(name).Add(k.value(s.Input)), jen.Id("t").Op("*").Qual(a2atestPath, "Task")).
			Params(k.value(s.Output), jen.Error())
		answer := jen.Op("*").Qual(a2atestPath, "Answer").Types(k.value(s.Input), k.value(s.Output))
		all.Add(doc(fmt.Sprintf("%s has a function of the test handle calls of the skill %q, as the agent's handler does.", s.Fake.On, s.ID)))
		all.Func().Params(jen.Id("f").Op("*").Id("Fake")).Id(s.Fake.On).Params(jen.Id("handler").Add(handler)).Add(answer).Block(
			jen.Return(jen.Id("f").Dot(s.Fake.Field).Dot("On").Call(jen.Id("handler"))),
		).Line().Line()
	}
	return all
}

// client is the method that returns a client of the fake.
func (k *fakePackage) client() jen.Code {
	s := jen.Add(doc("Client returns a client of the fake, which is closed when the test ends."))
	options := jen.Id("f").Dot("Options").Call()
	if k.agent.Calls.Verify != nil { // nobody signs the card of a fake
		options = jen.Append(options, jen.Qual(clientPath, "VerifyCard").Call(jen.Nil()))
	}
	return s.Func().Params(jen.Id("f").Op("*").Id("Fake")).Id("Client").Params(testParam(), optionsParam()).Op("*").Qual(k.paths.Client, "Client").Block(
		jen.Id("t").Dot("Helper").Call(),
		jen.List(jen.Id("c"), jen.Err()).Op(":=").Qual(k.paths.Client, "New").Call(
			jen.Id("t").Dot("Context").Call(), jen.Id("f").Dot("URL").Call(), jen.Append(options, jen.Id("opts").Op("...")).Op("..."),
		),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Fatal").Call(jen.Err())),
		jen.Id("t").Dot("Cleanup").Call(jen.Id("c").Dot("Close")),
		jen.Return(jen.Id("c")),
	).Line().Line()
}

func testParam() jen.Code { return jen.Id("t").Qual("testing", "TB") }
