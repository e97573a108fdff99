package migrate

import (
	"fmt"
	"strings"
)

// format is how a tool wants its files.
type format struct {
	name string
	// digits is how long a number is in a folder that has none; 14 stands for a
	// time. None: there are no numbers.
	digits int
	// files are those of one migration.
	files func(number string, m migration) []newFile
	// before looks at a folder before anything is written, and after completes it.
	before, after func(dir string) error
}

func formats() []format {
	return []format{
		{name: "plain", files: plainFiles},
		{name: "goose", digits: 5, files: gooseFiles},
		{name: "golang-migrate", digits: 6, files: golangMigrateFiles},
		{name: "atlas", digits: 14, files: atlasFiles, before: checkSum, after: writeSum},
	}
}

// Formats are the names of the formats.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

func formatNamed(name string) (format, error) {
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(Formats(), ", "))
}

// plainFiles are for tools with no format of their own: the SQL as it is, in
// files whose names sort.
func plainFiles(_ string, m migration) []newFile {
	return []newFile{{"idem_" + m.name + ".sql", m.up}}
}

// gooseFiles says where the statements begin and end, so that goose hands them
// over as they are and does not cut at semicolons.
func gooseFiles(number string, m migration) []newFile {
	section := func(name, sql string) string {
		return "-- +goose " + name + "\n-- +goose StatementBegin\n" + sql + "-- +goose StatementEnd\n"
	}
	return []newFile{{number + "_idem_" + m.name + ".sql", section("Up", m.up) + "\n" + section("Down", m.down)}}
}

func golangMigrateFiles(number string, m migration) []newFile {
	base := number + "_idem_" + m.name
	return []newFile{{base + ".up.sql", m.up}, {base + ".down.sql", m.down}}
}

func atlasFiles(number string, m migration) []newFile {
	return []newFile{{number + "_idem_" + m.name + ".sql", m.up}}
}
