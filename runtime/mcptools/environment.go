package mcptools

import (
	"os"
	"regexp"
	"runtime"
	"strings"
)

// reference is a variable of the environment in an argument or a header.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Variables returns the variables of the environment that a text refers to, "Bearer ${TOKEN}".
func Variables(text string) (names []string) {
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// expand puts the variables of the environment into a text.
func (s *Server) expand(text string) (string, error) {
	var missing error
	expanded := reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := ref[2 : len(ref)-1]
		value := os.Getenv(name)
		if value == "" && missing == nil {
			missing = &CredentialError{Server: s.Name, Env: name}
		}
		return value
	})
	return expanded, missing
}

// url is where the server is; "" for a command.
func (s *Server) url() string {
	if set := os.Getenv(s.URLEnv); s.URLEnv != "" && set != "" {
		return set
	}
	if len(s.Command) > 0 {
		return ""
	}
	return s.URL
}

// argv is the command with the variables of the environment.
func (s *Server) argv() (argv []string, err error) {
	for _, arg := range s.Command {
		if arg, err = s.expand(arg); err != nil {
			return nil, err
		}
		argv = append(argv, arg)
	}
	return argv, nil
}

// The variables that every program needs. All others may be secrets of the agent, which are not for a command of others.
var (
	everywhere = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "LC_ALL", "TZ"}
	onWindows  = []string{"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
		"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"}
)

// environment is what the command gets.
func (s *Server) environment() ([]string, error) {
	names := everywhere
	if runtime.GOOS == "windows" {
		names = append(names[:len(names):len(names)], onWindows...)
	}
	env := []string{}
	for _, name := range names {
		if value, has := os.LookupEnv(name); has {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range s.Env {
		value := os.Getenv(name)
		if value == "" {
			return nil, &CredentialError{Server: s.Name, Env: name}
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// target tells a connection from another one: a server whose URL is another one by now is another server.
func (s *Server) target() string {
	if url := s.url(); url != "" {
		return url
	}
	return strings.Join(s.Command, "\x00")
}
