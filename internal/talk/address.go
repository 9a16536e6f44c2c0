package talk

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime/server"
)

// projectFile is the file that makes a folder a project.
const projectFile = "agent.yaml"

// Address returns the URL for target: itself, or that of the agent of the project in a folder.
func Address(target string) (string, error) {
	if strings.Contains(target, "://") {
		return target, nil
	}
	if _, err := os.Stat(filepath.Join(target, projectFile)); err == nil {
		return runs(), nil
	}
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return "", usage("%s holds no %s: give the agent's URL, or the folder of its project", target, projectFile)
	}
	return "", usage("%s is neither a URL nor a project's folder: for an agent on the network write https://%[1]s, or http://…", target)
}

// nameIn returns the name of the agent of the project in a folder; "" if there is none.
func nameIn(target string) string {
	file := filepath.Join(target, projectFile)
	src, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	root, _ := yamlx.Parse(file, src) // what is wrong with it is for validate to say
	return yamlx.Text(yamlx.Get(root, "name"))
}

// runs returns the address of an agent that was started on this machine with the same environment, as [server.Main]
// reads it.
func runs() string {
	if u := os.Getenv(server.EnvURL); u != "" {
		return u
	}
	addr := os.Getenv(server.EnvAddr)
	if port := os.Getenv(server.EnvPort); addr == "" && port != "" {
		addr = ":" + port
	}
	host, port, err := net.SplitHostPort(cmp.Or(addr, server.DefaultAddr))
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// sameHost reports whether two URLs have the same scheme, host and port.
func sameHost(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}
