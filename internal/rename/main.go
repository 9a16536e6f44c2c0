// Command rename gives this module another path, in every file of the checkout: "make rename MODULE=example.org/x/a2agen", which then makes what is
// generated, and commits. The address of the skills extension, which is below the path, follows.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"

	"github.com/a2agen/a2agen"
)

func main() {
	if err := run(strings.Join(os.Args[1:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

func run(to string) error {
	if err := module.CheckPath(to); err != nil {
		return fmt.Errorf("%q is no path of a module: %w", to, err)
	}
	if to == a2agen.Module {
		return errors.New(to + " is its path")
	}
	if changed, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changed) > 0 {
		return errors.New("the tree is not clean: commit first")
	}
	list, err := exec.Command("git", "grep", "-lIzF", a2agen.Module).Output()
	if err != nil {
		return fmt.Errorf("git grep: %w", err)
	}
	path := regexp.MustCompile(regexp.QuoteMeta(a2agen.Module) + `\b`)
	digests := map[string]string{} // of the changed files, before and after: locks of examples name them
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := path.ReplaceAllLiteral(old, []byte(to))
		if filepath.Ext(name) == ".go" { // imports are sorted
			if text, err = format.Source(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		digests[fmt.Sprintf("%x", sha256.Sum256(old))] = fmt.Sprintf("%x", sha256.Sum256(text))
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	locks, err := filepath.Glob("examples/*/a2agen.lock")
	if err != nil {
		return err
	}
	for _, name := range locks {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		changed := regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllFunc(text, func(old []byte) []byte {
			if now := digests[string(old)]; now != "" {
				return []byte(now)
			}
			return old
		})
		if bytes.Equal(changed, text) {
			continue
		}
		if err := os.WriteFile(name, changed, 0o644); err != nil {
			return err
		}
	}
	return nil
}
