package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected files of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"idemgen": func() { os.Exit(runFormatted()) },
	})
}

// TestScripts runs the end-to-end scripts: contracts and Go in; files,
// messages and behaviour out. Each works in a module of its own that is not
// part of this one, as a user's is, without network: except that $PROXY is where
// modules come from for scripts that let the go command load a whole module graph,
// some of whose go.mod files nothing else in this repository needs.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	env := goEnv(t, "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOSUMDB")
	_, proxy, _ := strings.Cut(goEnv(t, "GOPROXY")[0], "=")
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join(root, "testdata"),
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, env...)
			e.Setenv("ROOT", root)
			e.Setenv("GOFLAGS", "-mod=mod")
			e.Setenv("GOPROXY", "off")
			e.Setenv("PROXY", proxy)
			e.Setenv("GONOSUMDB", "*")
			e.Setenv("GOWORK", "off")
			e.Setenv("IDEMGEN_CACHE", filepath.Join(e.WorkDir, ".tmp", "idemgen"))
			return makeModule(root, e.WorkDir)
		},
		Condition: func(cond string) (bool, error) {
			version, ok := strings.CutPrefix(cond, "toolchain:")
			if !ok {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return haveToolchain(version), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"replace": replaceCmd,
		},
	})
}

// goEnv reads variables that the scripts' own HOME would change.
func goEnv(t *testing.T, names ...string) []string {
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	var env []string
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		env = append(env, names[i]+"="+value)
	}
	return env
}

// haveToolchain tells whether a Go release can be had.
func haveToolchain(version string) bool {
	cmd := exec.Command("go", "version")
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN="+version)
	return cmd.Run() == nil
}

// makeModule completes the script's directory to a module that uses this one.
func makeModule(root, dir string) error {
	path := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	mod := fmt.Sprintf("module example.com/app\n\ngo 1.26.0\n\nrequire github.com/idemgen/idem v0.0.0\n\nreplace github.com/idemgen/idem => %s\n", root)
	if err := os.WriteFile(path, []byte(mod), 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
}

// replaceCmd is replace FILE OLD NEW: one place of a file, which must be there.
// \n, \r and \t in OLD and NEW stand for themselves.
func replaceCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace file old new")
	}
	path := ts.MkAbs(args[0])
	src, err := os.ReadFile(path)
	ts.Check(err)
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t")
	from, to := unescape.Replace(args[1]), unescape.Replace(args[2])
	if !strings.Contains(string(src), from) {
		ts.Fatalf("%s does not contain %q", args[0], from)
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(src), from, to)), 0o644))
}
