package driver

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/analyzers"
)

// unit is what the go command says of a package, in a file.
type unit struct {
	ID            string
	Dir           string
	ImportPath    string
	GoVersion     string
	GoFiles       []string
	NonGoFiles    []string
	IgnoredFiles  []string
	ModulePath    string
	ModuleVersion string
	ImportMap     map[string]string // as written in the source → as known here
	PackageFile   map[string]string // export data
	PackageVetx   map[string]string // facts
	VetxOnly      bool
	VetxOutput    string
	Stdout        string
}

func (u *unit) own() bool { return u.ModulePath != "" && u.ModuleVersion == "" }

// IsUnit tells whether the go command has started the tool for its own purposes.
func IsUnit(args []string) bool {
	if len(args) == 0 {
		return false
	}
	return args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg")
}

// gcPercent is as in the compiler, which lives as long.
const gcPercent = 400

// Unit answers the go command and returns the exit code. What is wrong goes to
// stderr; findings are JSON on stdout if -json is given, else text on stderr.
func Unit(args []string, stdout, stderr io.Writer) int {
	// The process ends with the package: what it collects on the way is mostly what
	// would have been given back at its end.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	code, err := runUnit(args, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "idemlint: %v\n", err)
		return 1
	}
	return code
}

func runUnit(args []string, stdout, stderr io.Writer) (int, error) {
	if args[0] == "-V=full" {
		return 0, printVersion(stdout)
	}
	var o analyzers.Options
	if args[0] != "-flags" {
		u, err := readUnit(args[len(args)-1])
		if err != nil {
			return 1, err
		}
		known := func(path string) bool {
			info, err := os.Stat(u.PackageVetx[path])
			return err == nil && info.Size() > 0
		}
		if u.ModulePath == "" || u.VetxOnly && !analyzers.Matters(u.ImportPath, u.own(), u.imports(), known) {
			return 0, os.WriteFile(u.VetxOutput, nil, 0o666)
		}
		if u.own() {
			if o, err = analyzers.Find(u.Dir); err != nil {
				return 1, err
			}
		}
		return analyse(u, args[:len(args)-1], o, stdout, stderr)
	}
	all, err := analyzers.New(analyzers.Options{})
	if err != nil {
		return 1, err
	}
	return 0, printFlags(stdout, newFlags(all).set)
}

func readUnit(name string) (*unit, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	u := new(unit)
	if err := json.Unmarshal(data, u); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return u, nil
}

func (u *unit) imports() []string {
	var paths []string
	for _, p := range u.ImportMap {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// catalogueFlag has no effect but on the go command, which keeps results apart by
// flags.
const catalogueFlag = "catalogue"

// surveyFlag asks for the survey of each package.
const surveyFlag = "survey"

// flags are what go vet passes on.
type flags struct {
	set     *flag.FlagSet
	json    bool
	context int
	tests   bool
	survey  bool
	rules   map[string]*triState
}

// triState is whether a rule is asked for, asked not to run, or not mentioned.
type triState int

func (t *triState) IsBoolFlag() bool { return true }
func (t *triState) String() string   { return "" }
func (t *triState) Set(s string) error {
	switch s {
	case "true":
		*t = 1
	case "false":
		*t = -1
	default:
		return errors.New("want true or false")
	}
	return nil
}

func newFlags(all []*analysis.Analyzer) *flags {
	f := &flags{set: flag.NewFlagSet("idemlint", flag.ContinueOnError), rules: map[string]*triState{}}
	f.set.SetOutput(io.Discard)
	f.set.BoolVar(&f.json, "json", false, "print findings as JSON")
	f.set.IntVar(&f.context, "c", -1, "accepted and ignored: lines of context")
	f.set.String(catalogueFlag, "", "set by idemlint: a digest of the users' catalogues, so that results are kept apart by them")
	f.set.BoolVar(&f.tests, "tests", false, "report in test files as well")
	f.set.BoolVar(&f.survey, surveyFlag, false, "set by idemlint audit: say what an audit needs to know, beside the findings")
	for _, a := range all {
		f.rules[a.Name] = new(triState)
		title, _, _ := strings.Cut(a.Doc, "\n")
		f.set.Var(f.rules[a.Name], a.Name, "run "+a.Name+": "+title)
	}
	return f
}

// wanted are the rules to run: those asked for or, if none is, those not asked
// not to run.
func (f *flags) wanted(all []*analysis.Analyzer) []*analysis.Analyzer {
	only := false
	for _, t := range f.rules {
		only = only || *t > 0
	}
	return slices.DeleteFunc(slices.Clone(all), func(a *analysis.Analyzer) bool {
		t := *f.rules[a.Name]
		return t < 0 || only && t == 0
	})
}

// printFlags lists the flags that the go command may pass on.
func printFlags(w io.Writer, set *flag.FlagSet) error {
	type jsonFlag struct {
		Name  string
		Bool  bool
		Usage string
	}
	var list []jsonFlag
	set.VisitAll(func(f *flag.Flag) {
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		list = append(list, jsonFlag{f.Name, ok && b.IsBoolFlag(), f.Usage})
	})
	data, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// printVersion says who the tool is: the go command keeps results apart by it.
// What it says depends on the program and on the user's catalogue, which no cache
// would see otherwise.
func printVersion(w io.Writer) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	o, err := analyzers.Find(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "\n%d\n%s", len(o.Extra), o.Extra)
	_, err = fmt.Fprintf(w, "%s version devel comments-go-here buildID=%02x\n", strings.TrimSuffix(filepath.Base(exe), ".exe"), h.Sum(nil))
	return err
}

func analyse(u *unit, args []string, o analyzers.Options, stdout, stderr io.Writer) (int, error) {
	all, surveyor, err := analyzers.NewWithSurvey(o)
	if err != nil {
		return 1, err
	}
	f := newFlags(all)
	if err := f.set.Parse(args); err != nil {
		return 1, err
	}
	chosen := f.wanted(all)
	if f.tests {
		for _, a := range chosen {
			if err := a.Flags.Set("tests", "true"); err != nil {
				return 1, err
			}
		}
	}
	if f.survey {
		chosen = append(chosen, surveyor)
	}
	r, err := load(u)
	if err != nil {
		return 1, err
	}
	r.run(chosen)
	if err := r.facts.write(u.VetxOutput, r.pkg); err != nil {
		return 1, err
	}
	if u.VetxOnly {
		return 0, nil
	}
	if len(r.typeErrors) > 0 {
		// The go command remembers what succeeds, and what it remembers it does not
		// say again.
		for _, err := range r.typeErrors[:min(10, len(r.typeErrors))] {
			fmt.Fprintln(stderr, err)
		}
		return 1, nil
	}
	return r.print(f.json, stdout, stderr)
}

// load parses and type-checks a package.
func load(u *unit) (*runner, error) {
	r := &runner{unit: u, fset: token.NewFileSet(), results: map[*analysis.Analyzer]any{}}
	for _, name := range u.GoFiles {
		file, err := parser.ParseFile(r.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			return nil, err
		}
		if err != nil {
			r.typeErrors = append(r.typeErrors, types.Error{Fset: r.fset, Pos: file.Pos(), Msg: err.Error()})
		}
		r.files = append(r.files, file)
	}
	exports := importer.ForCompiler(r.fset, "gc", func(path string) (io.ReadCloser, error) {
		name, ok := u.PackageFile[path]
		if !ok {
			return nil, fmt.Errorf("the go command gives no export data for %q", path)
		}
		return os.Open(name)
	})
	config := types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) {
			mapped, ok := u.ImportMap[path]
			if !ok {
				return nil, fmt.Errorf("cannot resolve import %q", path)
			}
			if mapped == "unsafe" {
				return types.Unsafe, nil
			}
			return exports.Import(mapped)
		}),
		Sizes:     types.SizesFor("gc", build.Default.GOARCH),
		GoVersion: u.GoVersion,
		Error: func(err error) {
			var terr types.Error
			if errors.As(err, &terr) {
				r.typeErrors = append(r.typeErrors, terr)
			}
		},
	}
	r.sizes = config.Sizes
	r.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	r.pkg, _ = config.Check(u.ImportPath, r.fset, r.files, r.info) // errors have been collected
	if r.pkg == nil {
		return nil, fmt.Errorf("%s cannot be type-checked", u.ImportPath)
	}
	r.facts = newFacts(u.PackageVetx)
	return r, nil
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
