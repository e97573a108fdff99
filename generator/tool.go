package generator

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
)

// toolID tells this program from every other one, builds of the same version
// included. ok is false where nothing does.
func toolID() (id string, ok bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	path := "/proc/self/exe" // the file that runs, even if another one has its name by now
	if runtime.GOOS != "linux" {
		// The file of that name may have been replaced since it was started. What was
		// built from modules with checksums is known without it.
		if !released(info) {
			return "", false
		}
		var err error
		if path, err = os.Executable(); err != nil {
			return "", false
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	sum.Write([]byte(info.String()))
	if id := buildID(f); id != "" {
		sum.Write([]byte(id))
	} else if _, err := io.CopyBuffer(sum, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return "", false
	}
	return hex.EncodeToString(sum.Sum(nil)), true
}

// buildID is what the go command wrote into an ELF file: the digest of its content
// comes last. It is empty where there is none, or another tool wrote it, which may
// give all its programs the same.
func buildID(f io.ReaderAt) string {
	file, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	section := file.Section(".note.go.buildid")
	if section == nil {
		return ""
	}
	note, err := section.Data()
	if err != nil {
		return ""
	}
	// Of each step from the sources to the program there is one digest.
	if digests := buildIDForm.Find(note); digests != nil {
		return string(digests)
	}
	return ""
}

var buildIDForm = regexp.MustCompile(`(?:[A-Za-z0-9_-]{20}/){3}[A-Za-z0-9_-]{20}`)

// released tells whether every module of the program is known by a checksum.
func released(info *debug.BuildInfo) bool {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Sum == "" {
			return false
		}
	}
	return true
}
