package coalesce

import "sync"

// A loop commits together whatever has come while the commit before was under way.
type loop[Req any] struct {
	requests chan request[Req]
	over     sync.WaitGroup
}

type request[Req any] struct {
	what Req
	done chan error
}

// newLoop starts a loop that hands each batch to commit.
func newLoop[Req any](commit func([]Req) error) *loop[Req] {
	const most = 256
	l := &loop[Req]{requests: make(chan request[Req], most)}
	l.over.Go(func() {
		for first := range l.requests {
			batch := []request[Req]{first}
			for len(batch) < most && len(l.requests) > 0 {
				batch = append(batch, <-l.requests)
			}
			all := make([]Req, len(batch))
			for i, r := range batch {
				all[i] = r.what
			}
			err := commit(all)
			for _, r := range batch {
				r.done <- err
			}
		}
	})
	return l
}

func (l *loop[Req]) do(what Req) error {
	r := request[Req]{what, make(chan error, 1)}
	l.requests <- r
	return <-r.done
}

func (l *loop[Req]) close() {
	close(l.requests)
	l.over.Wait()
}
