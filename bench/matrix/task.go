package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// Scenarios are the pieces of work, by name.
var Scenarios = []struct{ Name, Work string }{
	{"charge", "a charge (the provider knows keys), then a mail (it does not)"},
	{"label", "a label of a carrier that knows no keys and cannot be searched"},
	{"search", "a label of a carrier that knows no keys, but finds a label by its reference"},
	{"row", "an amount added in the own database, then a message (the broker drops what it has by ID)"},
}

// Effects are those of a scenario. Row is counted in the database, the others at
// the provider.
func Effects(scenario string) []string {
	switch scenario {
	case "charge":
		return []string{"charge", "mail"}
	case "label", "search":
		return []string{"label"}
	case "row":
		return []string{"row", "publish"}
	}
	panic("no scenario " + scenario)
}

// A Task is what one process is to do, as JSON in [TaskVariable].
type Task struct {
	Tool     string
	Scenario string
	Order    string // what the work is about
	Database string // the way to PostgreSQL, through a proxy or not
	Watching string // the way that is not watched, for a look at what has become of the work
	Provider string // a socket
	Again    bool   // after a process was stopped: the work is delivered again
	Prepare  bool   // only create the tables
}

// TemporalVariable and NamespaceVariable lead to a Temporal server.
const (
	TemporalVariable  = "IDEM_MATRIX_TEMPORAL"
	NamespaceVariable = "IDEM_MATRIX_TEMPORAL_NAMESPACE"
)

// TaskVariable holds the task of a process of a test binary.
const TaskVariable = "IDEM_MATRIX_TASK"

// An Outcome is how a program's work ended.
type Outcome struct {
	// Unknown are the effects of which the program says, where a person finds it,
	// that it does not know whether they have happened.
	Unknown []string
}

// A Tool is a way to write the programs.
type Tool struct {
	Name string
	// Prepare creates the tool's tables.
	Prepare func(ctx context.Context, t Task) error
	// Run is one process: it starts what the tool needs, delivers the order and
	// waits until the work is over.
	Run func(ctx context.Context, t Task, p *Client) (Outcome, error)
	// Not has a scenario for which there is no such program.
	Not []string
}

// Main is the main function of a process of one of the tools. It writes the outcome
// as JSON.
func Main(tools []Tool) error {
	var t Task
	if err := json.Unmarshal([]byte(os.Getenv(TaskVariable)), &t); err != nil {
		return err
	}
	ctx := context.Background()
	for _, tool := range tools {
		if tool.Name != t.Tool {
			continue
		}
		if t.Prepare {
			return tool.Prepare(ctx, t)
		}
		out, err := tool.Run(ctx, t, NewClient(t))
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(out)
	}
	return fmt.Errorf("no tool %q", t.Tool)
}
