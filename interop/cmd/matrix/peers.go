package main

import (
	"context"
	"strings"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// Versions over bindings.
var (
	all10 = []spoken{{"1.0", rpcBinding}, {"1.0", restBinding}, {"1.0", grpcBinding}}
	all03 = []spoken{{"0.3", rpcBinding}, {"0.3", restBinding}, {"0.3", grpcBinding}}
	all   = append(append([]spoken{}, all10...), all03...)
	go03  = []spoken{{"0.3", rpcBinding}, {"0.3", grpcBinding}}
)

var peers = []*peer{
	{name: "a2a-go 2.4.0", serves: all, calls: all, agent: here(startGoDesk), client: inside(newGoClient), caller: own(goCaller{}), lists: true},
	{name: "a2a-go 0.3.15", serves: go03, calls: go03, agent: here(startOldDesk), client: inside(newOldClient), caller: own(oldCaller{})},
	python("1.3.0", "", all, script{"forecast.py", weather, isForecast}, script{"push.py", stories, isStory}, script{"notify.py", hook, isHeard}),
	python("0.3.26", "03", all03, script{"push03.py", stories, isStory}, script{"notify03.py", hook, isHeard}),
	javaScript("1.3.0", "", all, script{"forecast.mjs", weather, isForecast}, script{"push.mjs", stories, isStory}, script{"notify.mjs", hook, isHeard}),
	javaScript("0.3.14", "03", all03, script{"push03.mjs", stories, isStory}, script{"notify03.mjs", hook, isHeard}),
	mastra("1.47.0"),
	java("0.3.3.Final", "java03", all03),
	{name: "grpcurl 1.9.4", calls: []spoken{{"1.0", grpcBinding}, {"0.3", grpcBinding}}, client: inside(newCurlClient)},
}

// here is an agent in this process.
func here(start func(context.Context) (string, func(), error)) func(context.Context, string) (string, func(), error) {
	return func(ctx context.Context, _ string) (string, func(), error) { return start(ctx) }
}

// inside is a client in this process.
func inside(client func(context.Context, string, spoken) (desk.Client, func(), error)) func(context.Context, string, string, spoken) (desk.Client, func(), error) {
	return func(ctx context.Context, _, url string, s spoken) (desk.Client, func(), error) {
		return client(ctx, url, s)
	}
}

// own is a client with credentials in this process.
func own(c caller) func(string) (caller, func(), error) {
	return func(string) (caller, func(), error) { return c, func() {}, nil }
}

// python is the SDK on PyPI. Scripts of a version's SDK end in its number.
func python(version, number string, speaks []spoken, scripts ...script) *peer {
	p := &peer{
		name: "a2a-sdk " + version + " (Python)", needs: "python3", serves: speaks, calls: speaks, scripts: scripts,
		install: [][]string{
			{"python3", "-m", "venv", "sdk"},
			{"sdk/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "a2a-sdk[http-server,grpc]==" + version, "uvicorn==0.54.0"},
		},
	}
	return p.scripted([]string{"sdk/bin/python"}, "call"+number+".py", "agent"+number+".py").withHook("auth" + number + ".py")
}

// javaScript is the SDK on npm.
func javaScript(version, number string, speaks []spoken, scripts ...script) *peer {
	p := &peer{
		name: "@a2a-js/sdk " + version, needs: "node", serves: speaks, calls: speaks, scripts: scripts,
		install: [][]string{{"npm", "install", "--no-audit", "--no-fund", "--silent", "@a2a-js/sdk@" + version,
			"@bufbuild/protobuf@2.17.0", "@grpc/grpc-js@1.14.7", "express@5.3.0", "undici@7.30.2"}},
	}
	return p.scripted([]string{"node"}, "call"+number+".mjs", "agent"+number+".mjs").withHook("auth" + number + ".mjs")
}

// mastra is Mastra's client on npm.
func mastra(version string) *peer {
	p := &peer{
		name: "@mastra/client-js " + version, needs: "node", calls: []spoken{{"1.0", rpcBinding}},
		install: [][]string{{"npm", "install", "--no-audit", "--no-fund", "--silent", "@mastra/client-js@" + version}},
	}
	return p.scripted([]string{"node"}, "callmastra.mjs", "")
}

// java is the SDK on Maven Central. Its folder has a pom.xml with what it needs.
func java(version, folder string, calls []spoken) *peer {
	p := &peer{
		name: "a2a-java-sdk " + version, needs: "mvn", calls: calls,
		install: [][]string{
			{"mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies", "-DoutputDirectory=lib"},
			{"javac", "-nowarn", "-cp", "lib/*", "Call.java", "Auth.java"},
		},
	}
	p.scripted([]string{"java", "-cp", "lib/*:."}, "Call", "")
	p.withHook("Auth")
	p.files = []string{folder + "/pom.xml", folder + "/Call.java", folder + "/Auth.java"}
	return p
}

// scripted makes client and agent of two scripts. A client gets the URL of an agent, a version and a binding, reads an ask a
// line and prints its answer; an agent prints its URL, and ends when its input does.
func (p *peer) scripted(run []string, client, agent string) *peer {
	p.run = run
	p.files = append(p.files, client)
	for _, s := range p.scripts {
		p.files = append(p.files, s.file)
	}
	p.client = func(_ context.Context, dir, url string, s spoken) (desk.Client, func(), error) {
		c, err := startProcess(dir, append(run[:len(run):len(run)], client, url, s.version, s.binding))
		if err != nil {
			return nil, nil, err
		}
		return c, c.stop, nil
	}
	if agent == "" {
		return p
	}
	p.files = append(p.files, agent)
	p.agent = func(ctx context.Context, dir string) (string, func(), error) {
		a, err := startProcess(dir, append(run[:len(run):len(run)], agent))
		if err != nil {
			return "", nil, err
		}
		url, err := a.line(ctx, "http://")
		if err != nil {
			a.stop()
			return "", nil, err
		}
		return strings.TrimSpace(string(url)), a.stop, nil
	}
	return p
}

// withHook adds a script that is the client with its hook for credentials. It reads an attempt a line and prints its answer.
func (p *peer) withHook(file string) *peer {
	p.files = append(p.files, file)
	p.caller = func(dir string) (caller, func(), error) {
		c, err := startProcess(dir, append(p.run[:len(p.run):len(p.run)], file))
		if err != nil {
			return nil, nil, err
		}
		return c, c.stop, nil
	}
	return p
}
