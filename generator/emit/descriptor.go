package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Descriptor prints the definition behind a protobuf wire, for peers that ask an agent for it.
func Descriptor(w *ir.Wire, paths Paths) (output.File, error) {
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	comment := descriptorConst(w) + " is the definition of " + w.Name + " with what it imports: a FileDescriptorSet."
	f.Add(jen.Add(doc(comment)).Const().Id(descriptorConst(w)).Op("=").Op(quotedLines(w.Descriptor)))
	name := strings.TrimPrefix(w.File, "codec_")
	return render(f, pkgFile(paths.Protocol, fmt.Sprintf("descriptor_%s.gen.go", name)))
}

func descriptorConst(w *ir.Wire) string { return "descriptor" + w.Suffix }

// quotedLines is a string of bytes as a sum of literals, each on a line.
func quotedLines(b []byte) string {
	const room = maxColumns - len(`"" +`) - 4 // behind the tab
	var s, line strings.Builder
	s.WriteString(`""`)
	end := func() {
		s.WriteString(" +\n\"" + line.String() + `"`)
		line.Reset()
	}
	for _, c := range b {
		char := strconv.QuoteToASCII(string(rune(c)))
		char = char[1 : len(char)-1]
		if c >= 0x80 {
			char = fmt.Sprintf(`\x%02x`, c)
		}
		if line.Len()+len(char) > room {
			end()
		}
		line.WriteString(char)
	}
	if line.Len() > 0 {
		end()
	}
	return s.String()
}
