package names_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
)

func TestSkillsGetMethodsAndFilesOfTheirOwn(t *testing.T) {
	var skills []*ir.Skill
	for _, id := range []string{"get-x", "get_x", "agent", "GetX2", "rpc"} {
		skills = append(skills, &ir.Skill{ID: id})
	}
	names.Skills(skills)
	var got []string
	for _, s := range skills {
		got = append(got, s.Go+" "+s.File)
	}
	if diff := cmp.Diff([]string{"GetX get_x", "GetX2 get_x2", "Agent agent_skill", "GetX2_2 get_x2_2", "RPC rpc_skill"}, got); diff != "" {
		t.Error(diff)
	}
}

// object is a struct with one property a field, as schemas are lowered to it.
func object(wants ir.Wants, fields ...*ir.DataField) *ir.DataType {
	return &ir.DataType{Kind: ir.DataStruct, Wants: wants, Fields: fields}
}

func TestContractsShareTypesThatAreTheSame(t *testing.T) {
	contract := func(name, property string) names.Contract {
		point := object(ir.Wants{Base: "Point"}, &ir.DataField{Name: property})
		root := object(ir.Wants{}, &ir.DataField{Name: "at", Type: ir.DataRef{Kind: ir.DataNamed, Type: point}}, &ir.DataField{Name: "Validate"})
		return names.Contract{Go: name, Root: &ir.DataRef{Type: root}, Types: []*ir.DataType{root, point}}
	}
	types := names.Contracts(names.OfSkills(), []names.Contract{contract("AInput", "x"), contract("BInput", "x"), contract("CInput", "y"), contract("TaskInput", "z")})
	var got []string
	for _, typ := range types {
		text := typ.Go
		for _, f := range typ.Fields {
			text += " " + f.Go + ":" + f.Type.Name
		}
		got = append(got, text)
	}
	want := []string{
		"AInput At:Point Validate2:", "BInput At:Point Validate2:", "CInput At:CInputPoint Validate2:", "CInputPoint Y:",
		"Point X:", "TaskInput At:TaskInputPoint Validate2:", "TaskInputPoint Z:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
