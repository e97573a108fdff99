package torture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a file system of its own.
type smallDisk struct{ dir string }

func mountSmallDisk(t *testing.T, under string) *smallDisk {
	t.Helper()
	dir := filepath.Join(under, "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("no small disk can be mounted, so that none is full: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return &smallDisk{dir}
}

// fillAgainAndAgain leaves little room, later none, and then room again.
func (d *smallDisk) fillAgainAndAgain(ctx context.Context, r *round) error {
	ballast := filepath.Join(d.dir, "ballast")
	for ctx.Err() == nil {
		sleep(ctx, time.Duration(r.draw(300))*time.Millisecond)
		var disk syscall.Statfs_t
		if err := syscall.Statfs(d.dir, &disk); err != nil {
			return err
		}
		free := int64(disk.Bavail)*int64(disk.Bsize) - int64(r.draw(100_000))
		if err := os.WriteFile(ballast, make([]byte, max(0, free)), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		r.troubles.Add(1)
		r.log.printf("disk: full but for %d bytes", int64(disk.Bavail)*int64(disk.Bsize)-free)
		sleep(ctx, time.Duration(200+r.draw(500))*time.Millisecond)
		if err := os.Remove(ballast); err != nil {
			return err
		}
		r.log.printf("disk: room")
	}
	return nil
}
