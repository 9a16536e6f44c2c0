package talk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// printer prints answers to Out.
type printer struct {
	*Options
	artifact string // that is being printed
	shown    bool   // something was printed as it came
	open     bool   // the last line has no end yet
}

// event prints an event as one line of JSON, as version 1.0 has it.
func (p *printer) event(e any) error {
	payload, ok := e.(a2awires.StreamResponsePayload)
	if !ok {
		return runtime.Unexpected(e, "an event")
	}
	b, err := (&a2awires.StreamResponse{Payload: payload}).AppendJSON(nil)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(append(b, '\n'))
	return err
}

// result prints the result of a call as one line of JSON, and saves its files.
func (p *printer) result(r *rpc.Result) error {
	if p.Output != "" {
		for _, f := range r.Files() {
			if f.Content == nil {
				continue
			}
			if _, err := save(p.Output, f.Name, f.Content); err != nil {
				return err
			}
		}
	}
	if r.Task != nil {
		return p.event(r.Task)
	}
	return p.event(r.Message)
}

// answer prints an answer and its files, unless they were printed as they came. Other artifacts come first; they go
// to Err if the answer is data, so that another program reads only that.
func (p *printer) answer(r *rpc.Result) error {
	defer p.closing(r)
	if p.shown {
		p.endLine()
		return nil
	}
	answer, beside := r.Parts(), p
	isData := slices.ContainsFunc(answer, func(part runtime.Part) bool { return part.Kind == runtime.PartData })
	if isData && !p.Screen {
		aside := *p.Options
		aside.Out = p.Err
		beside = &printer{Options: &aside}
	}
	for _, a := range r.Beside() {
		if err := beside.words(a.Parts); err != nil {
			return err
		}
	}
	if err := p.words(answer); err != nil {
		return err
	}
	for _, f := range r.Files() {
		if err := p.file(f); err != nil {
			return err
		}
	}
	return nil
}

// words prints the text and the data of an artifact or a message.
func (p *printer) words(parts []runtime.Part) error {
	for _, part := range parts {
		if part.Kind != runtime.PartText && part.Kind != runtime.PartData {
			continue
		}
		if err := p.part(part); err != nil {
			return err
		}
	}
	p.endLine()
	return nil
}

// closing prints the agent's last message on Err if the answer is in artifacts and the message differs from it.
func (p *printer) closing(r *rpc.Result) {
	m, ok := r.Message.(*a2awires.Message)
	if !ok || m == nil || len(r.Artifacts) == 0 {
		return
	}
	for _, part := range m.Parts {
		text, ok := part.Content.(a2awires.PartText)
		if said := strings.TrimSpace(string(text)); ok && said != strings.TrimSpace(r.Text()) {
			fmt.Fprintln(p.Err, clean(said))
		}
	}
}

// chunk prints an artifact, or the next chunk of one.
func (p *printer) chunk(a *runtime.ArtifactData) error {
	if a.ID != p.artifact || !a.Append {
		p.endLine()
		p.artifact = a.ID
	}
	for _, part := range a.Parts {
		if err := p.part(part); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) part(part runtime.Part) error {
	switch part.Kind {
	case runtime.PartText:
		return p.text(part.Text)
	case runtime.PartData:
		p.endLine()
		return p.text(indented(part.Data) + "\n")
	case runtime.PartRaw, runtime.PartURL:
		p.endLine()
		return p.file(rpc.File{Name: part.Filename, MediaType: part.MediaType, Content: part.Raw, URL: part.URL})
	}
	return nil
}

// indented returns data as indented JSON.
func indented(data []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}

// file saves a file, or prints its name. A file elsewhere is named by its URL.
func (p *printer) file(f rpc.File) error {
	p.shown = true
	switch {
	case f.URL != "":
		return p.text(f.URL + "\n")
	case p.Output == "":
		fmt.Fprintln(p.Err, clean(fmt.Sprintf("file %s (%s, %d bytes): --save DIR saves it", f.Name, f.MediaType, len(f.Content))))
		return nil
	}
	path, err := save(p.Output, f.Name, f.Content)
	if err != nil {
		return err
	}
	return p.text(path + "\n")
}

// text prints text without sequences that control a terminal.
func (p *printer) text(s string) error {
	if s == "" {
		return nil
	}
	p.shown = true
	p.open = !strings.HasSuffix(s, "\n")
	if p.Screen {
		s = clean(s)
	}
	_, err := io.WriteString(p.Out, s)
	return err
}

// endLine ends a line that was begun.
func (p *printer) endLine() {
	if p.open {
		p.open = false
		_, _ = io.WriteString(p.Out, "\n") // a write that fails has failed before
	}
}

// clean removes control characters from foreign text, except tabs and line ends.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
