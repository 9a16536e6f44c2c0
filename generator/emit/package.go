package emit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// ProtocolPackage prints the whole protocol package, sorted by path: types, codecs, the protocol table, helpers and the typed client.
func ProtocolPackage(p *ir.Protocol, paths Paths) ([]output.File, error) {
	jobs := []job{
		one(func() (output.File, error) { return Types(p, paths) }),
		func() ([]output.File, error) { return Protocol(p, paths) },
		one(func() (output.File, error) { return Helpers(p, paths) }),
		one(func() (output.File, error) { return ProtocolClient(p, paths) }),
	}
	for _, v := range p.Written() {
		for _, w := range v.Wires {
			jobs = append(jobs, one(func() (output.File, error) { return Codec(p, w, paths) }))
			if len(w.Descriptor) > 0 {
				jobs = append(jobs, one(func() (output.File, error) { return Descriptor(w, paths) }))
			}
		}
	}
	files, err := parallel(jobs)
	if err != nil {
		return nil, fmt.Errorf("emit the protocol package: %w", err)
	}
	slices.SortFunc(files, func(a, b output.File) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}

// job makes some of a package's files.
type job func() ([]output.File, error)

// one is the job of making one file.
func one(emit func() (output.File, error)) job {
	return func() ([]output.File, error) {
		f, err := emit()
		return []output.File{f}, err
	}
}

// parallel runs jobs at the same time and joins their results in order.
func parallel(jobs []job) ([]output.File, error) {
	files, errs := make([][]output.File, len(jobs)), make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { files[i], errs[i] = job() })
	}
	wg.Wait()
	return slices.Concat(files...), errors.Join(errs...)
}
