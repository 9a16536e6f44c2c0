package generator

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
)

// State adds to a card what its user says of the skills, in a2agen.yaml and in the file beside the client, which open reads.
func State(c config.Client, imported *card.Card, open func(string) ([]byte, error)) (list diag.List) {
	contract, file := c.Contract, c.ContractFile()
	src, err := open(file)
	switch {
	case err == nil:
		beside, problems := config.ReadContract(file, src)
		if list.Add(problems...); problems.HasErrors() {
			return list
		}
		for _, s := range beside.Skills {
			if i := slices.IndexFunc(contract.Skills, func(o config.SkillContract) bool { return o.ID == s.ID }); i >= 0 {
				list.Add(diag.Diagnostic{
					Code: "duplicate", Severity: diag.Error, Pos: s.Pos,
					Message: fmt.Sprintf("the contract of skill %q is stated twice", s.ID),
					Related: []diag.Related{{Pos: contract.Skills[i].Pos, Message: "first here"}},
				})
			}
		}
		contract.Call = cmp.Or(contract.Call, beside.Call)
		contract.Skills = append(slices.Clone(contract.Skills), beside.Skills...)
	case !errors.Is(err, fs.ErrNotExist):
		list.Add(unreadable(file, err)...)
	}
	var stated []card.Stated
	for _, s := range contract.Skills {
		stated = append(stated, card.Stated{ID: s.ID, Input: s.Input, Output: s.Output, File: s.File, Pos: s.Pos})
	}
	list.Add(imported.State(stated, open)...)
	list.Add(callBy(contract, imported)...)
	return list
}

// callBy sets the conventions by which skills are called: each skill's own, else that of all where it suits.
func callBy(contract config.Contract, imported *card.Card) (list diag.List) {
	for _, s := range imported.Skills {
		i := slices.IndexFunc(contract.Skills, func(o config.SkillContract) bool { return o.ID == s.ID })
		own := i >= 0 && contract.Skills[i].Call != ""
		by := config.ConventionOf(contract.Call)
		if own {
			by = config.ConventionOf(contract.Skills[i].Call)
		}
		switch {
		case by.Data && s.Input == nil && own && contract.Skills[i].Input == nil:
			list.Errorf(contract.Skills[i].Pos, "no-input", "state its input, too, or leave call out",
				"skill %q has no input schema, and %q sends an input", s.ID, by.Word)
		case by.Func != "" && !(by.Data && s.Input == nil):
			s.Convention = ir.Convention{Func: by.Func}
		}
	}
	return list
}
