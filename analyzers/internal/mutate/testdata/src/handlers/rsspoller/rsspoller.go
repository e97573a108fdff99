// Package rsspoller tells subscribers of new articles.
package rsspoller

import (
	"context"
	"log"
	"time"
)

type Article struct {
	GUID  string
	Title string
}

type Feed interface {
	Articles(ctx context.Context) ([]Article, error)
}

type Seen interface {
	Claim(ctx context.Context, guid string) (bool, error)
	IsSeen(ctx context.Context, guid string) (bool, error)
	MarkSeen(ctx context.Context, guid string) error
	Release(ctx context.Context, guid string) error
}

type Channel interface {
	Broadcast(ctx context.Context, text string) error
}

type Poller struct {
	feed Feed
	seen Seen
	out  Channel
}

func (p *Poller) Run(ctx context.Context) error {
	for {
		articles, err := p.feed.Articles(ctx)
		if err != nil {
			log.Print(err)
		}
		for _, a := range articles {
			if err := p.tell(ctx, a); err != nil {
				log.Printf("article %s: %v", a.GUID, err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
		}
	}
}

func (p *Poller) tell(ctx context.Context, a Article) error {
	/*claim:seen, err := p.seen.IsSeen(ctx, a.GUID); if err != nil || seen { return err }[*/mine, err := p.seen.Claim(ctx, a.GUID)
	if err != nil {
		return err
	}
	if !mine {
		/*skip[*/return nil/*]*/
	}/*]*/
	/*effect:if err := p.seen.MarkSeen(ctx, a.GUID); err != nil { return err }[*/if err := p.out.Broadcast(ctx, /*id:a.GUID[*/a.Title/*]*/); err != nil {
		/*release[*/if err := p.seen.Release(ctx, a.GUID); err != nil {
			log.Print(err)
		}/*]*/
		return err
	}/*]*/
	/*mark[*/if err := /*call[*/p.seen.MarkSeen(ctx, a.GUID)/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}

// Fresh are the articles that nobody has been told of.
func (p *Poller) Fresh(ctx context.Context) ([]Article, error) {
	articles, err := p.feed.Articles(ctx)
	if err != nil {
		return nil, err
	}
	var fresh []Article
	for _, a := range articles {
		/*look:seen, _ := p.seen.IsSeen(ctx, a.GUID)[*/seen, err := p.seen.IsSeen(ctx, a.GUID)
		if err != nil {
			return nil, err
		}/*]*/
		if seen {
			continue
		}
		fresh = append(fresh, a)
	}
	return fresh, nil
}
