//go:build !linux

package torture

import (
	"context"
	"errors"
	"testing"
)

type smallDisk struct{ dir string }

func mountSmallDisk(t *testing.T, _ string) *smallDisk {
	t.Skip("a small disk is mounted on Linux alone, so that none is full")
	return nil
}

func (*smallDisk) fillAgainAndAgain(context.Context, *round) error {
	return errors.New("there is no small disk")
}
