package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/idemgen/idem/analyzers"
	"github.com/idemgen/idem/analyzers/gopls/lsptest"
)

// edits measures the time from an edit to the diagnostics of the file, in the same
// gopls with the rules and without. Both are open, and take turns.
func edits(ctx context.Context, gopls, dir, file string, rounds int) (with, without []time.Duration, err error) {
	off := map[string]any{}
	for _, d := range analyzers.Docs() {
		off[d.Name] = false
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var clients []*lsptest.Client
	defer func() {
		for _, c := range clients {
			err = errors.Join(err, c.Close())
		}
	}()
	for _, settings := range []map[string]any{nil, {"analyses": off}} {
		c, err := lsptest.Start(ctx, gopls, dir, settings)
		if err != nil {
			return nil, nil, err
		}
		clients = append(clients, c)
		if err := c.Open(file); err != nil {
			return nil, nil, err
		}
		if _, err := c.Diagnostics(file); err != nil {
			return nil, nil, err
		}
	}
	times := make([][]time.Duration, len(clients))
	for round := range rounds {
		for i, c := range clients {
			text := fmt.Sprintf("%s\nfunc edited%d() int { return %d }\n", src, round, i)
			start := time.Now()
			if err := c.Change(file, text); err != nil {
				return nil, nil, err
			}
			if _, err := c.Diagnostics(file); err != nil {
				return nil, nil, err
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	return times[0], times[1], nil
}
