package codec

// message03 is message as JSON of 0.3 has it, which has no media type of text and data.
func message03() map[string]any {
	m := message()
	return map[string]any{
		"kind": "message", "messageId": m.MessageID, "contextId": m.ContextID, "taskId": m.TaskID, "role": "user",
		"parts": parts03(m.Parts), "metadata": m.Metadata, "extensions": m.Extensions,
	}
}

// task03 is task as JSON of 0.3 has it.
func task03() map[string]any {
	t := task()
	var artifacts []any
	for _, a := range t.Artifacts {
		artifacts = append(artifacts, map[string]any{
			"artifactId": a.ArtifactID, "name": a.Name, "description": a.Description, "parts": parts03(a.Parts),
		})
	}
	return map[string]any{
		"kind": "task", "id": t.ID, "contextId": t.ContextID, "artifacts": artifacts, "history": []any{message03()},
		"status": map[string]any{"state": "completed", "timestamp": t.Status.Timestamp},
	}
}

func parts03(parts []plainPart) (list []any) {
	for _, p := range parts {
		if p.Text != nil {
			list = append(list, map[string]any{"kind": "text", "text": *p.Text})
			continue
		}
		list = append(list, map[string]any{"kind": "data", "data": p.Data})
	}
	return list
}
