package pgschema

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func script(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../runtime/postgres/migrations/0001_ledger.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A table with a row for each piece of work that was left whole would be the one
// that everybody waits for.
func TestEveryTableOfWorkIsPartitioned(t *testing.T) {
	got := Partitioned(script(t), 3)
	var partitioned []string
	for _, m := range regexp.MustCompile(`PARTITION OF idem\.(\w+) FOR VALUES WITH \(MODULUS 3, REMAINDER 2\) WITH \(fillfactor = 80\);`).FindAllStringSubmatch(got, -1) {
		partitioned = append(partitioned, m[1])
	}
	if want := []string{"work_log", "effect_log", "attempt_history"}; !slices.Equal(partitioned, want) {
		t.Errorf("partitioned are %v, want %v", partitioned, want)
	}
	if n := strings.Count(got, "PARTITION BY HASH (work_id);"); n != 3 {
		t.Errorf("%d tables say how they are partitioned, want 3", n)
	}
	if strings.Contains(got, "\n) WITH (fillfactor = 80);") {
		t.Error("a table kept a setting that only its partitions can have")
	}
}

func TestAnotherSchemaIsNamedEverywhere(t *testing.T) {
	got := InSchema(Partitioned(script(t), 2), `my "odd" one`)
	if strings.Contains(got, "idem.") || strings.Contains(got, CreateSchema) {
		t.Error("something is still in the schema idem")
	}
	for _, want := range []string{`CREATE SCHEMA IF NOT EXISTS "my ""odd"" one";`, `CREATE TABLE "my ""odd"" one".work_log (`, `CREATE TABLE "my ""odd"" one".work_log_1 PARTITION OF "my ""odd"" one".work_log FOR`} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if InSchema(script(t), Name) != script(t) {
		t.Error("the schema that it is written for changes it")
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	for _, name := range []string{"", "a\x00b", strings.Repeat("a", 64)} {
		if CheckName(name) == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	for _, n := range []int{-1, 0, 1, MaxPartitions + 1} {
		if CheckPartitions(n) == nil {
			t.Errorf("%d partitions are taken", n)
		}
	}
	if err := CheckName(strings.Repeat("a", 63)); err != nil {
		t.Error(err)
	}
	if err := CheckPartitions(2); err != nil {
		t.Error(err)
	}
}
