package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idem/analyzers/internal/catalogue"
	"github.com/idemgen/idem/analyzers/internal/survey"
)

// event is something that an entry does, in the order of the source.
type event struct {
	kind string // model, write, effect
	name string
	pos  Position
	call *survey.Call
}

// events lists what an entry does in the order of the source, each function where it
// is called first. Branches that exclude each other stand one after the other.
func (w *walker) events() []event {
	var all []event
	seen := map[int]bool{}
	var visit func(f, depth int)
	visit = func(f, depth int) {
		if seen[f] || depth > maxDepth || w.funcs[f].Pure {
			return
		}
		seen[f] = true
		calls := w.funcs[f].Calls
		order := make([]int, len(calls))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Or(calls[a].Line-calls[b].Line, calls[a].Column-calls[b].Column)
		})
		for _, i := range order {
			c := &calls[i]
			pos := w.at(f, c.Line, c.Column)
			if c.Ledger != "" {
				all = append(all, event{"effect", c.Name, pos, c})
			}
			if w.leads(f, i) {
				for _, e := range w.edges[f] {
					if e.call == i && !w.skips(e.to, c) {
						visit(e.to, depth+1)
					}
				}
				continue
			}
			for _, e := range c.Effects {
				if kind := w.kindOfEvent(f, e); kind != "" {
					all = append(all, event{kind, c.Name, pos, c})
				}
			}
		}
	}
	for _, f := range w.root.funcs {
		visit(f, 0)
	}
	return all
}

func (w *walker) kindOfEvent(f int, e survey.Effect) string {
	reads, _ := w.names(&visit{f: f})
	switch {
	case e.Model:
		return "model"
	case e.Request && (e.Asks || reads):
		if slices.ContainsFunc(catalogue.Words(w.funcs[f].Name), asksModel) {
			return "model"
		}
		return ""
	case e.Class == catalogue.State:
		return "write"
	case e.Class.Outward() && !e.Safe:
		return "effect"
	}
	return ""
}

func asksModel(word string) bool {
	return slices.Contains([]string{"chat", "completion", "completions", "llm", "openai", "prompt", "anthropic", "claude", "gpt", "embedding", "embeddings"}, word)
}

// model says what happens if the program stops between a model's answer and what is
// done with it.
func (w *walker) model() *Model {
	events := w.events()
	first := slices.IndexFunc(events, func(e event) bool { return e.kind == "model" })
	if first < 0 {
		return nil
	}
	ask := events[first]
	m := &Model{Verdict: Yes, Call: ask.pos, Name: ask.name}
	for _, e := range events[first+1:] {
		if e.kind == "write" && m.Write == nil {
			m.Write = &e.pos
		}
		if e.kind == "effect" {
			m.Effect = &e.pos
			break
		}
	}
	guarded := ask.call.Guard
	switch {
	case guarded != nil && (guarded.Kind == survey.Search || guarded.Kind == survey.Claim):
		m.Verdict = Partly
		m.Text = fmt.Sprintf("it is asked again unless %s finds an answer that has been kept; whether what is kept is the answer is not seen", guarded.Text)
	case m.Effect == nil:
		m.Text = "it is asked again; no outward effect was seen after it, so that costs tokens and no more"
	case m.Write != nil:
		m.Verdict = Partly
		m.Text = "something is written between its answer and the first outward effect; whether that is the answer, and whether a retry reads it, is not seen"
	default:
		m.Text = "it is asked again and may answer otherwise: nothing was seen that keeps its answer before the first outward effect"
	}
	return m
}

const handedOver = "as the contract that it hands the work to"

// failure says where work goes that has failed for good, by what the code does and
// by what is known of the system that hands it in.
func (w *walker) failure() Failure {
	known := systemOf(w.root.kind, w.root.system)
	out := Failure{Goes: Answer{known.verdict, known.goes, nil}, Sees: Answer{known.sees, known.who, nil}}
	if w.root.ledger != nil {
		return out
	}
	if len(w.runs) > 0 && len(w.effects) == 0 {
		return Failure{Goes: Answer{Yes, handedOver, nil}, Sees: Answer{Partly, handedOver, nil}}
	}
	logs := false
	for _, f := range w.reached() {
		fn := &w.funcs[f]
		logs = logs || fn.Logs
		for _, c := range fn.Calls {
			pos := w.at(f, c.Line, c.Column)
			if c.Dead != "" && out.Goes.Pos == nil {
				out.Goes = Answer{Yes, fmt.Sprintf("%s puts it aside (%s)", c.Name, c.Dead), &pos}
			}
			switch sends := slices.ContainsFunc(c.Effects, func(e survey.Effect) bool { return e.Class == catalogue.Message }); {
			case c.Alerts && out.Sees.Verdict != Yes:
				out.Sees = Answer{Yes, c.Name + " tells people of errors", &pos}
			case c.Failed && sends && out.Sees.Pos == nil && w.root.kind == "bot":
				out.Sees = Answer{Partly, "the user, by " + c.Name, &pos}
			case c.Failed && sends && out.Sees.Pos == nil:
				out.Sees = Answer{Partly, c.Name + " sends a message where something has failed; to whom is not seen", &pos}
			}
		}
	}
	if out.Sees.Pos == nil && logs && out.Sees.Verdict != Yes && w.root.kind != "program" && w.root.kind != "command" {
		text := "errors are logged: whoever reads the log"
		if known.who != "" && out.Sees.Verdict != NotSeen {
			text = known.who + "; errors are logged as well"
		}
		out.Sees.Text = text
		if out.Sees.Verdict == NotSeen {
			out.Sees.Verdict = Partly
		}
	}
	return out
}

// reached are the functions of the entry, in the order of the program.
func (w *walker) reached() []int {
	var all []int
	for f := range w.reach {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}

// replay says whether one item can be run again: what the system that hands in work
// offers, or for a run over many, whether what does one of them is an entry of its
// own.
func (w *walker) replay(effects []found, others []Entry) Answer {
	known := systemOf(w.root.kind, w.root.system)
	if len(w.runs) > 0 && len(effects) == 0 {
		return Answer{Yes, handedOver, nil}
	}
	i := slices.IndexFunc(effects, func(e found) bool { return e.Each != "" })
	if w.root.ledger != nil || i < 0 || known.items {
		return Answer{known.replay, known.how, nil}
	}
	e := effects[i]
	one, at := w.perItem(e)
	text := fmt.Sprintf("a run goes over %s", e.Each)
	if one < 0 {
		return Answer{No, text + ": nothing was seen that does one item alone", &e.Pos}
	}
	pos := w.at(at.f, w.funcs[at.f].Calls[at.call].Line, 0)
	for _, o := range others {
		if o.reach[one] && o.Func != w.funcs[w.root.main].Name {
			return Answer{Partly, fmt.Sprintf("%s, but %s does one item and is also reached from %s", text, w.funcs[one].Name, o.Name), &pos}
		}
	}
	return Answer{No, fmt.Sprintf("%s: %s does one item, but no other entry point reaches it", text, w.funcs[one].Name), &pos}
}

// callSite is a call of a function.
type callSite struct{ f, call int }

// perItem is the function that a loop on the way to an effect calls for each item.
func (w *walker) perItem(e found) (int, callSite) {
	for v := e.v; v != nil && v.by != nil; v = v.by {
		if w.funcs[v.by.f].Calls[v.call].Loop != "" {
			return v.f, callSite{v.by.f, v.call}
		}
	}
	return -1, callSite{}
}
