package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestMain lets this program be its own victim.
func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		os.Exit(beVictim(text))
	}
	os.Exit(m.Run())
}

// logbook is what happened in a round, by whom and when.
type logbook struct {
	begun time.Time

	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
}

func newLogbook(dir string) (*logbook, error) {
	file, err := os.Create(filepath.Join(dir, "round.log"))
	if err != nil {
		return nil, err
	}
	return &logbook{begun: time.Now(), file: file, out: bufio.NewWriter(file)}, nil
}

func (l *logbook) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// What cannot be written shows when the book is closed.
	_, _ = fmt.Fprintf(l.out, "%9.4f "+format+"\n", append([]any{time.Since(l.begun).Seconds()}, args...)...)
}

func (l *logbook) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.out.Flush(), l.file.Close())
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
