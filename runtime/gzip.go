package idem

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
)

// Gzip is the codec that compresses values, where that makes them smaller.
func Gzip() Codec {
	return &gzipCodec{writers: sync.Pool{New: func() any { return gzip.NewWriter(nil) }}}
}

type gzipCodec struct{ writers sync.Pool }

// What is shorter than worthIt is not tried. largestValue bounds what a few bytes
// may become.
const (
	worthIt      = 256
	largestValue = 1 << 30
)

func (*gzipCodec) Name() string { return "gzip" }

func (g *gzipCodec) Encode(value []byte, _ Slot) ([]byte, string, error) {
	if len(value) < worthIt {
		return nil, "", nil
	}
	var out bytes.Buffer
	w, _ := g.writers.Get().(*gzip.Writer) // which is all that New makes
	defer g.writers.Put(w)
	w.Reset(&out)
	if _, err := w.Write(value); err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	if out.Len() >= len(value) {
		return nil, "", nil
	}
	return out.Bytes(), "", nil
}

func (*gzipCodec) Decode(stored []byte, _ string, _ Slot) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTampered, err)
	}
	value, err := io.ReadAll(io.LimitReader(r, largestValue+1))
	if err == nil && len(value) > largestValue {
		err = fmt.Errorf("it has over %d bytes", largestValue)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTampered, err)
	}
	return value, nil
}
