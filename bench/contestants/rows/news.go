package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// newsEvery is the time between two events of the task that is read.
const newsEvery = 5 * time.Millisecond

// news measures how long an event takes, from before it is written until a reader of another instance has read it: the
// reader is woken by its store, and then asks it for what is new. So many others write meanwhile.
func news(m maker, length time.Duration, writers int) (f figures) {
	ctx, cancel := context.WithTimeout(context.Background(), length+30*time.Second)
	defer cancel()
	waits, err := wait(ctx, m.(stored), length, writers)
	if f.P50, f.P99, f.Tasks = percentile(waits, 0.5), percentile(waits, 0.99), len(waits); err != nil {
		f.Err = err.Error()
	}
	return f
}

func wait(ctx context.Context, writer stored, length time.Duration, writers int) (waits []time.Duration, err error) {
	reader, err := openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	var wg sync.WaitGroup
	busy, stop := context.WithCancel(ctx)
	defer wg.Wait()
	defer stop()
	for range writers {
		wg.Go(func() {
			for busy.Err() == nil {
				_ = writer.task(ctx)
			}
		})
	}
	t := newTask()
	if _, err := writer.Create(ctx, t.key, t.start, nil); err != nil {
		return nil, err
	}
	woken := make(chan struct{}, 1)
	defer reader.Watch(t.key, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})()
	for version, began := int64(1), time.Now(); time.Since(began) < length; version++ {
		at := time.Now()
		if _, err := writer.Apply(ctx, t.key, version, chunk(t.key, version), nil); err != nil {
			return nil, err
		}
		if err := read(ctx, reader, t.key, version, woken); err != nil {
			return nil, err
		}
		waits = append(waits, time.Since(at))
		time.Sleep(newsEvery)
	}
	return waits, nil
}

// read waits for the event after a version.
func read(ctx context.Context, reader store.Store, key store.Key, version int64, woken <-chan struct{}) error {
	for {
		select {
		case <-woken:
		case <-ctx.Done():
			return fmt.Errorf("event %d never came: %w", version+1, ctx.Err())
		}
		list, err := reader.Events(ctx, key, version, 0)
		if err != nil || len(list) > 0 {
			return err
		}
	}
}
