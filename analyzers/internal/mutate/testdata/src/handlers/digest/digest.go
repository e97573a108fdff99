// Package digest makes one digest of many articles.
package digest

import (
	"context"
	"fmt"
)

type Digest struct {
	Articles []string
	Text     string
}

type Store interface {
	CreateDigest(ctx context.Context, d *Digest) error
	MarkProcessed(ctx context.Context, article string) error
}

type Maker struct{ store Store }

func (m *Maker) Make(ctx context.Context, articles []string, text string) error {
	d := &Digest{Articles: articles, Text: text}
	/*effect[*/if err := m.store.CreateDigest(ctx, d); err != nil {
		return fmt.Errorf("digest: %w", err)
	}/*]*/
	/*marks[*/for _, a := range articles {
		if err := m.store.MarkProcessed(ctx, a); err != nil {
			return err
		}
	}/*]*/
	return nil
}
