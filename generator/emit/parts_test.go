package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
)

// declarations are functions of which every third imports something.
func declarations(n int) []jen.Code {
	var code []jen.Code
	for i := range n {
		f := jen.Comment(fmt.Sprintf("f%d is one of many.", i)).Line().Func().Id(fmt.Sprintf("f%d", i)).Params()
		switch i % 3 {
		case 0:
			f.String().Block(jen.Return(jen.Qual("strings", "ToUpper").Call(jen.Lit("\nimport \"os\"\n"))))
		case 1:
			f.Qual(wirePath, "Value").Block(jen.Return(jen.Nil()))
		default:
			f.Block()
		}
		code = append(code, f.Line())
	}
	return code
}

func TestALargeFileIsWhatItWouldBeInOnePiece(t *testing.T) {
	head := func() *jen.File { return newFile("example.com/x/agent", "agent") }
	for _, n := range []int{0, 1, 2, partSize, partSize + 1, 3*partSize + 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			code := declarations(n)
			if n%partSize == 0 && n > 0 {
				code = append(code, jen.Null()) // what some contracts do not need
			}
			f := head()
			addAll(f, code...)
			want, err := render(f, "agent/types.gen.go")
			if err != nil {
				t.Fatal(err)
			}
			got, err := renderLarge(head, "agent/types.gen.go", code)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Data, want.Data) || got.Path != want.Path || got.Kind != want.Kind {
				t.Errorf("in parts:\n%s\nin one piece:\n%s", got.Data, want.Data)
			}
			if formatted, err := format.Source(got.Data); err != nil || !bytes.Equal(formatted, got.Data) {
				t.Errorf("not formatted (%v):\n%s", err, got.Data)
			}
		})
	}
}

func TestAPartThatDoesNotParseIsAnErrorWithNumberedLines(t *testing.T) {
	code := append(declarations(partSize), jen.Op("}{"))
	_, err := renderLarge(func() *jen.File { return newFile("example.com/x/agent", "agent") }, "agent/types.gen.go", code)
	if err == nil || !strings.Contains(err.Error(), "    5  ") {
		t.Errorf("got %v, want an error with numbered lines", err)
	}
}

func TestPartsThatImportUnderTwoNamesAreRefused(t *testing.T) {
	_, err := join([][]byte{
		[]byte("package a\n\nimport x \"time\"\n\nvar a x.Time\n"),
		[]byte("package a\n\nimport \"time\"\n\nvar b time.Time\n"),
	})
	if err == nil || !strings.Contains(err.Error(), `"time"`) {
		t.Errorf("got %v, want an error that names the import", err)
	}
}
