package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
)

// startTelemetry sends metrics to where OTEL_EXPORTER_OTLP_ENDPOINT says, every 15 seconds, until stop is called. An autoscaler reads
// a2a.run.active there, the calls at work.
func startTelemetry(log *slog.Logger) (stop func()) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		return func() {}
	}
	numbers, err := otlpmetrichttp.New(context.Background())
	if err != nil {
		log.Error("no metrics are sent", "error", err)
		return func() {}
	}
	reader := metric.NewPeriodicReader(numbers, metric.WithInterval(15*time.Second))
	metrics := metric.NewMeterProvider(metric.WithReader(reader))
	otel.SetMeterProvider(metrics)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := metrics.Shutdown(ctx); err != nil {
			log.Error("the last metrics were not sent", "error", err)
		}
	}
}
