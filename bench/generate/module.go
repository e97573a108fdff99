package generate

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// module is a module to generate for.
type module struct {
	packages, files, contracts int // contracts in a file, files in a package

	// heavy packages talk to PostgreSQL, to a gRPC service and to S3, and their
	// contracts need the types of all three.
	heavy bool
}

func (m module) total() int { return m.packages * m.files * m.contracts }

// needed are the imports that the contracts need, all of them for heavy ones:
// what idemgen has to ask the go command for.
func (m module) needed() []string {
	if !m.heavy {
		return []string{"context", "database/sql", "errors", "io", "time", idemPath}
	}
	return []string{
		"context", "errors", "time", idemPath,
		"github.com/aws/aws-sdk-go-v2/service/s3", "github.com/aws/aws-sdk-go-v2/service/s3/types",
		"github.com/jackc/pgx/v5", "google.golang.org/grpc",
	}
}

const idemPath = "github.com/idemgen/idem/runtime"

//go:embed *.tmpl
var templates embed.FS

// write makes the module in a directory. Its go.mod and go.sum are those of the
// folder strangers, with idem at repo, which is absolute.
func (m module) write(dir, repo string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(filepath.Join(repo, "bench", "generate", "strangers", name))
		if err != nil {
			return err
		}
		src = bytes.Replace(src, []byte("=> ../../.."), []byte("=> "+repo), 1)
		if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
			return err
		}
	}
	t, err := template.ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	for p := range m.packages {
		if err := m.writePackage(dir, t, p); err != nil {
			return err
		}
	}
	return nil
}

// page is what the templates of a file see.
type page struct {
	Package   string
	First     bool // of the package
	Heavy     bool
	Contracts []entry
}

// entry is a contract of a file.
type entry struct {
	Word, Kind string // unique in the module
	Hash       bool   // its identity is a hash
	Heavy      bool
}

func (m module) writePackage(dir string, t *template.Template, number int) error {
	name := fmt.Sprintf("shop%02d", number)
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for f := range m.files {
		pg := page{Package: name, First: f == 0, Heavy: m.heavy}
		for c := range m.contracts {
			word := fmt.Sprintf("Order%02dx%02dx%02d", number, f, c)
			pg.Contracts = append(pg.Contracts, entry{word, strings.ReplaceAll(strings.ToLower(word), "x", "_"), c%3 == 2, m.heavy})
		}
		for _, out := range []struct{ template, suffix string }{{"contracts.tmpl", ".idem.yaml"}, {"handlers.tmpl", ".go"}} {
			var text bytes.Buffer
			if err := t.ExecuteTemplate(&text, out.template, pg); err != nil {
				return err
			}
			path := filepath.Join(dir, fmt.Sprintf("orders%02d%s", f, out.suffix))
			if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
