package main

import (
	"context"
	"fmt"
	"path/filepath"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/a2agen/a2agen/runtime/otel"
	"github.com/a2agen/a2agen/runtime/server"
)

// watched are the options for what -observe asks for.
func watched(by string) ([]server.Option, error) {
	switch by {
	case "":
		return nil, nil
	case "audit":
		return []server.Option{server.WithAudit(filepath.Join(*keys, "audit.log"))}, nil
	case "otel": // without an SDK, which whoever builds the agent brings
		return []server.Option{server.WithObserver(otel.Observer())}, nil
	case "sdk":
		return []server.Option{server.WithObserver(otel.Observer(
			otel.TracerProvider(sdktrace.NewTracerProvider(sdktrace.WithBatcher(nowhere{}))),
			otel.MeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
		))}, nil
	}
	return nil, fmt.Errorf("nobody observes by %q", by)
}

// nowhere is where spans go.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }
