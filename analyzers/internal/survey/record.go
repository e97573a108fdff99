package survey

import "github.com/idemgen/idem/analyzers/internal/catalogue"

// Record is the survey of one package.
type Record struct {
	Path       string              `json:"path"`
	Name       string              `json:"name"`
	Module     string              `json:"module,omitempty"`
	Funcs      []Func              `json:"funcs,omitempty"`
	Types      []Type              `json:"types,omitempty"`
	Interfaces map[string][]string `json:"interfaces,omitempty"` // those called here: their methods with signatures
	Entries    []Entry             `json:"entries,omitempty"`
	Contracts  []Contract          `json:"contracts,omitempty"`
}

// Func is a function, or a literal that work comes in through.
type Func struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"` // as messages name it
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	End     int      `json:"end"` // its last line
	Params  []string `json:"params,omitempty"`
	Means   string   `json:"means,omitempty"`   // what its parameters say that comes in through it
	System  string   `json:"system,omitempty"`  // the package that hands it in
	Handler string   `json:"handler,omitempty"` // what a directive says that comes in through it
	Main    bool     `json:"main,omitempty"`    // a program begins here
	Gives   bool     `json:"gives,omitempty"`   // it returns a channel
	Pure    bool     `json:"pure,omitempty"`    // a directive says that nothing it does counts
	Said    []Effect `json:"said,omitempty"`    // what a directive says that it does, whatever it calls
	Calls   []Call   `json:"calls,omitempty"`
	Logs    bool     `json:"logs,omitempty"` // it logs an error
	Unknown int      `json:"unknown,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
}

// Call is a call that leads somewhere or does something.
type Call struct {
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Name    string   `json:"name"`             // as the source has it
	To      string   `json:"to,omitempty"`     // a function
	Iface   string   `json:"iface,omitempty"`  // or a method of an interface
	Method  string   `json:"method,omitempty"` // its name
	Passed  bool     `json:"passed,omitempty"` // the function is handed over, not called
	Effects []Effect `json:"effects,omitempty"`
	Args    []string `json:"args,omitempty"`  // as the source has them, if its function is the program's
	Keys    []Key    `json:"keys,omitempty"`  // that it is given
	Guard   *Guard   `json:"guard,omitempty"` // what decides whether it is reached
	Loop    string   `json:"loop,omitempty"`  // what the loop around it goes over
	Failed  bool     `json:"failed,omitempty"`
	Dead    string   `json:"dead,omitempty"`     // the name that says that what has failed is put aside here
	Unique  bool     `json:"unique,omitempty"`   // it is handled if what it makes is there already
	Alerts  bool     `json:"alerts,omitempty"`   // it tells people of an error
	Ledger  string   `json:"contract,omitempty"` // the contract that the work is handed to: package and field
}

// Effect is what a call does outside.
type Effect struct {
	Class   catalogue.Class `json:"class"`
	Safe    bool            `json:"safe,omitempty"`
	Model   bool            `json:"model,omitempty"`
	Request bool            `json:"request,omitempty"` // nothing is known but that it is a POST
	Asks    bool            `json:"asks,omitempty"`    // names say that it only asks
	ByName  bool            `json:"byName,omitempty"`  // nothing is known but its name
	Verb    string          `json:"verb,omitempty"`    // of an SQL statement
	Table   string          `json:"table,omitempty"`   // that it writes
	Unique  bool            `json:"unique,omitempty"`  // the statement says what becomes of one that is there already
	Way     []string        `json:"way,omitempty"`     // from the function called on
}

// Key is what the other side tells repetition by.
type Key struct {
	Sink    string   `json:"sink"` // what makes it a key: a header, a field
	Text    string   `json:"text"` // the expression
	Line    int      `json:"line"`
	Origins []Origin `json:"origins,omitempty"`
}

// Origin is where a key comes from.
type Origin struct {
	Volatile catalogue.Volatile `json:"volatile,omitempty"`
	Param    string             `json:"param,omitempty"` // name of the parameter, with the field
	Partial  bool               `json:"partial,omitempty"`
	Way      []string           `json:"way,omitempty"`
}

// The kinds of guard.
const (
	Claim  = "claim"  // one statement that only one can win
	Search = "search" // a lookup, after which it may still happen twice
	Memory = "memory" // a lookup in the memory of the process
	Status = "status" // what the thing itself says of what has been done
)

// Guard is what decides whether a call is reached.
type Guard struct {
	Kind string `json:"kind"`
	Text string `json:"text"` // the check
	By   string `json:"by,omitempty"`
	Weak bool   `json:"weak,omitempty"` // it looks for a thing, not for what has been done
	Line int    `json:"line"`
}

// Note is something that only an audit says.
type Note struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Type is a type with methods that may be called through interfaces.
type Type struct {
	Name    string   `json:"name"`
	Methods []Method `json:"methods"`
}

// Method is one of a type's.
type Method struct {
	Sig string `json:"sig"`          // name and signature
	To  string `json:"to,omitempty"` // the function, if its source is the program's
}

// Entry is a place where functions are registered that work comes in through, or
// where a function takes in work itself.
type Entry struct {
	Means  string   `json:"means"`
	System string   `json:"system"` // import path of what hands in the work
	Route  string   `json:"route,omitempty"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
	Column int      `json:"column"`
	Funcs  []string `json:"funcs"`
	Pulls  bool     `json:"pulls,omitempty"`
	Ledger string   `json:"contract,omitempty"` // the contract that the function is made for: package and field
}

// AnyOf begins the name of a function that stands for those of all types that
// implement an interface: the interface and the method follow, as in calls.
const AnyOf = "any of "

// Contract is what generated code says of one.
type Contract struct {
	Kind    string           `json:"kind"`
	Version string           `json:"version"`
	File    string           `json:"file"`
	Handler string           `json:"handler"` // ID of the function
	Effects []ContractEffect `json:"effects,omitempty"`
}

// ContractEffect is an effect of a contract.
type ContractEffect struct {
	Name  string `json:"name"`
	Guard string `json:"guard"`
	Func  string `json:"func,omitempty"` // ID
	Work  string `json:"work,omitempty"` // the other contract
}
