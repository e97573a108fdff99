package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// leaseOfContract is what the contracts say. The dead process's work is taken
// over when its leases are over.
const leaseOfContract = 2 * time.Second

// trial is one handler before one provider.
type trial struct {
	module      *module
	handler     string // as the program's flag takes it
	name        string // as it is printed
	honoursKeys bool
	orders      []order
	print       *printer
}

// outcome is what a trial came to.
type outcome struct {
	orders  []order
	books   books
	answers map[string][]answer
}

// run delivers the orders, and kills the program when half of them are charged.
func (t *trial) run(ctx context.Context) (_ *outcome, err error) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	halfway := make(chan chan struct{})
	provider, err := startProvider(ctx, t.honoursKeys, len(t.orders)/2, func() {
		gone := make(chan struct{})
		select {
		case halfway <- gone:
			<-gone
		case <-ctx.Done():
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, provider.stop()) }()
	service := t.service(provider.url)
	defer service.kill()
	pid, err := service.start(ctx)
	if err != nil {
		return nil, err
	}
	t.print.line(t.name, "serving as process %d, %d webhooks on their way", pid, copies*len(t.orders))

	source := newSource(service)
	delivered := make(chan error, 1)
	go func() { delivered <- source.deliver(ctx, t.orders) }()
	select {
	case gone := <-halfway:
		err = t.crash(ctx, provider, service, gone)
	case err = <-delivered:
		if err == nil {
			err = errors.New("all webhooks were answered before half of the orders were charged")
		}
		return nil, fmt.Errorf("%w%s", err, service.lastWords())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel()
		<-delivered
		return nil, err
	}
	if err := <-delivered; err != nil {
		return nil, fmt.Errorf("%w%s", err, service.lastWords())
	}
	if err := service.stop(); err != nil {
		return nil, err
	}
	t.print.line(t.name, "%d webhooks answered after %s, %s", copies*len(t.orders),
		count(int(source.redelivered.Load()), "redelivery"), seconds(time.Since(began)))
	return &outcome{t.orders, provider.count(), source.answers}, nil
}

func (t *trial) service(url string) *service {
	file := func(ext string) string {
		return filepath.Join(filepath.Dir(t.module.dir), t.handler+keysOrNot(t.honoursKeys)+ext)
	}
	return newService(t.module.binary, file(".log"),
		"-handler", t.handler, "-ledger", file(".db"), "-payments", url, "-mail", url)
}

// keysOrNot tells the naive handler's two logs apart.
func keysOrNot(honoursKeys bool) string {
	if honoursKeys {
		return "-keys"
	}
	return "-nokeys"
}

// crash kills the program while the provider holds back an answer, and starts it
// again.
func (t *trial) crash(ctx context.Context, provider *provider, service *service, gone chan struct{}) error {
	pid := service.kill()
	close(gone)
	seen := provider.count()
	total, unmailed := 0, 0
	for id, n := range seen.charges {
		total += n
		if seen.receipts[id] == 0 {
			unmailed++
		}
	}
	t.print.line(t.name, "killed %d after %s; %s had no receipt yet", pid, count(total, "charge"), count(unmailed, "order"))
	again, err := service.start(ctx)
	if err != nil {
		return err
	}
	waits := ""
	if t.handler != "naive" {
		waits = fmt.Sprintf(", the dead one's leases last %s", leaseOfContract)
	}
	t.print.line(t.name, "restarted as process %d%s", again, waits)
	return nil
}
