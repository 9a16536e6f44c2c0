// Package codec compares the speed of the JSON codecs of A2A 1.0 values: ours, those of the official Go SDK (JSON, and
// protobuf with its conversions) and encoding/json on plain structs. All encode and decode the same three payloads. Two of
// them are also encoded and decoded as JSON of A2A 0.3: by ours, by the official SDK of 0.3 and by the conversions of that of 1.0.
package codec

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// plainMessage, plainTask and the rest are what one would write by hand for encoding/json.
type plainMessage struct {
	MessageID  string          `json:"messageId"`
	ContextID  string          `json:"contextId,omitempty"`
	TaskID     string          `json:"taskId,omitempty"`
	Role       string          `json:"role"`
	Parts      []plainPart     `json:"parts"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Extensions []string        `json:"extensions,omitempty"`
}

type plainPart struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

type plainTask struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId"`
	Status    plainStatus     `json:"status"`
	Artifacts []plainArtifact `json:"artifacts,omitempty"`
	History   []plainMessage  `json:"history,omitempty"`
}

type plainStatus struct {
	State     string `json:"state"`
	Timestamp string `json:"timestamp,omitempty"`
}

type plainArtifact struct {
	ArtifactID  string      `json:"artifactId"`
	Name        string      `json:"name,omitempty"`
	Description string      `json:"description,omitempty"`
	Parts       []plainPart `json:"parts"`
}

const prose = `Between "Andermatt" and the pass the road is wet; wind from the north-west, gusts to 60 km/h.
Visibility 4 km, better after 09:30. Lorries wait at Göschenen — allow 25 minutes. `

func text(n int) plainPart {
	s := strings.ToValidUTF8(strings.Repeat(prose, n/len(prose)+1)[:n], "")
	return plainPart{Text: &s, MediaType: "text/plain"}
}

func data(i int) plainPart {
	return plainPart{MediaType: "application/json", Data: fmt.Appendf(nil,
		`{"station":"GOE-%03d","kelvin":[271.15,272.4,273.9],"wind":{"from":315,"kmh":%d},"wet":true,"note":null}`, i, 20+i%40)}
}

// message is a message of about 1 KB: text and data.
func message() plainMessage {
	return plainMessage{
		MessageID: "0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c03", ContextID: "0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01",
		TaskID: "0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02", Role: "ROLE_USER",
		Parts:      []plainPart{text(520), data(7)},
		Metadata:   json.RawMessage(`{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"forecast"}}`),
		Extensions: []string{"https://github.com/a2agen/a2agen/extensions/skills/v1"},
	}
}

// task is a finished task of 64 artifacts of about 600 bytes.
func task() plainTask {
	t := plainTask{
		ID: "0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02", ContextID: "0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01",
		Status:  plainStatus{State: "TASK_STATE_COMPLETED", Timestamp: "2026-11-20T10:00:00.123Z"},
		History: []plainMessage{message()},
	}
	for i := range 64 {
		t.Artifacts = append(t.Artifacts, plainArtifact{
			ArtifactID: fmt.Sprintf("artifact-%03d", i), Name: "segment", Description: "one segment of the route",
			Parts: []plainPart{text(320), data(i)},
		})
	}
	return t
}

// file is a message with a file part of 5 MB, which makes 6.7 MB of JSON.
func file() plainMessage {
	m := message()
	raw := make([]byte, 5_000_000)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(raw)
	m.Parts = []plainPart{{Raw: raw, Filename: "radar.tiff", MediaType: "image/tiff"}}
	return m
}
