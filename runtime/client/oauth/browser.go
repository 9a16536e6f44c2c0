package oauth

import (
	"fmt"
	"os/exec"
	"runtime"
)

// OpenBrowser opens a page in the browser of the person at this machine. No shell reads the URL, which must be https, or http on this machine.
func OpenBrowser(url string) error {
	if _, err := shown(url); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	words := browserCommand(runtime.GOOS)
	program, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	cmd := exec.Command(program, append(words[1:], url)...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	go func() { _ = cmd.Wait() }() // some stay for as long as the browser is open
	return nil
}

// browserCommand is the program that opens a URL, which is its last argument.
func browserCommand(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
