package knowledge

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/delivery.md and docs/providers.md from the tables")

func TestDocsEqualTheTables(t *testing.T) {
	for name, want := range map[string][]byte{
		"delivery.md":  deliveryPage(),
		"providers.md": providersPage(),
	} {
		path := filepath.Join("..", "..", "docs", name)
		got, err := os.ReadFile(path)
		got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		if !*update {
			t.Errorf("docs/%s is not what the tables say (read: %v): run go generate ./contracts/knowledge", name, err)
			continue
		}
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Error(err)
		}
	}
}

const written = "<!-- Written from contracts/knowledge by `go generate`; edit the tables there. -->\n\n"

func deliveryPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Delivery systems\n\n" + written)
	b.WriteString(`A contract names what delivers its work:

` + "```yaml" + `
delivered_by: stripe                                  # a row of this table
# delivered_by: {redelivers_for: 3d, ack_within: 10s}  # or your own figures
` + "```" + `

The *horizon* is for how long after the first attempt the same message may still
come by itself. A window that is shorter than the horizon and the retry schedule
together would forget work that is still being delivered: an error. *Answer
within* is how long the system waits; to let a duplicate wait longer
(` + "`while_running: {wait: …}`" + `) is an error.

*Keeps trying* is for how long a message that was not acknowledged comes by itself,
at the least. ` + "`payload: none`" + ` leaves the input of unfinished work to its source,
and is allowed where that is longer than the retry schedule: not with a source that
brings nothing unless it is asked to (none), nor where nobody says for how long.

Horizons are upper bounds: where sources differ or round, the longer figure
stands. Where none is stated the contract says ` + "`redelivers_for`" + `. The figures are
those of the defaults; if you have changed yours, give your own.

| name | system | delivers | horizon | keeps trying | answer within | received when | again after success |
| --- | --- | --- | --- | --- | --- | --- | --- |
`)
	for _, d := range Deliveries() {
		horizon := d.Horizon.String()
		if d.ByDesign {
			horizon += " (our decision)"
		}
		keeps := d.Keeps.String()
		if length, stated := d.Keeps.Get(); stated && length == 0 {
			keeps = "none"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s | %s | %s | %s |\n",
			d.Name, d.Name, d.Title, d.What, horizon, keeps, d.AckWithin, d.Acknowledged, d.AgainAfterSuccess)
	}
	b.WriteString("\n*Again after success*: whether the source says that a message which was received may come again all the same. Expect it everywhere.\n")
	for _, d := range Deliveries() {
		fmt.Fprintf(&b, "\n## %s\n\n%s: %s. Comes again: %s.\n", d.Name, d.Title, d.What, d.Schedule)
		writeNotes(&b, d.Notes, d.Sources)
	}
	return b.Bytes()
}

func providersPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Providers\n\n" + written)
	b.WriteString(`An effect names the provider at which it happens, and so need not repeat what is
publicly known of it:

` + "```yaml" + `
effects:
  create_payment_intent: {guard: idempotency_key, provider: stripe}
` + "```" + `

- *Moves* is what a repeated call would do twice. Where that is money,
  ` + "`if_unknown: give_up`" + ` is refused, and ` + "`repeat`" + ` and ` + "`repeatable`" + ` are warned of.
- *Remembered* is for how long the provider recognises a repeated key: a lower
  bound over its endpoints. After it an interrupted call becomes *unknown*.
  Where it is not stated the contract says ` + "`remembers_for`" + `; if your endpoint
  remembers longer, say so too.
- *Failures* is what a repeat under a known key gets when the first call failed.
  Where they are replayed, a call that is known to have changed nothing is sent
  again under a new key; nothing else ever is.

What no source says is *not stated*, and never guessed. The guard is what to use
when you know nothing better; a row says where an endpoint deserves another.

| name | provider | moves | key | format | remembered | failures | guard |
| --- | --- | --- | --- | --- | --- | --- | --- |
`)
	for _, p := range Providers() {
		key, format, remembered, failures := "none", "", "", ""
		if p.HasKey() {
			key = fmt.Sprintf("%s `%s`", p.Key.Place, p.Key.Name)
			format, remembered, failures = keyFormatText(p.Key), p.Key.Remembered.String(), p.Key.Errors.String()
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s | %s | %s | `%s` |\n",
			p.Name, p.Name, p.Title, p.Moves, key, format, remembered, failures, p.Guard)
	}
	for _, p := range Providers() {
		fmt.Fprintf(&b, "\n## %s\n\n%s: %s.", p.Name, p.Title, p.What)
		if p.Unique != "" {
			fmt.Fprintf(&b, " Unique: %s.", p.Unique)
		}
		if p.Search != "" {
			fmt.Fprintf(&b, " Can be searched by: %s; lag until it is found: %s.", p.Search, p.SearchLag)
		}
		if p.Key.Charset != "" {
			fmt.Fprintf(&b, " The key may hold: %s.", p.Key.Charset)
		}
		b.WriteString("\n")
		writeNotes(&b, p.Notes, p.Sources)
	}
	return b.Bytes()
}

func keyFormatText(k Key) string {
	text := "`" + string(k.Format) + "`"
	switch {
	case k.MinLength > 0 && k.MaxLength > 0:
		text += fmt.Sprintf(" (%d–%d characters)", k.MinLength, k.MaxLength)
	case k.MaxLength > 0:
		text += fmt.Sprintf(" (up to %d)", k.MaxLength)
	}
	return text
}

func writeNotes(b *bytes.Buffer, notes string, sources []Source) {
	if notes != "" {
		fmt.Fprintf(b, "%s\n", notes)
	}
	var read, see []string
	for _, s := range sources {
		if s.Read == "" {
			see = append(see, "<"+s.URL+">")
			continue
		}
		read = append(read, fmt.Sprintf("<%s> (%s)", s.URL, s.Read))
	}
	if len(read) > 0 {
		fmt.Fprintf(b, "\nRead: %s\n", strings.Join(read, ", "))
	}
	if len(see) > 0 {
		fmt.Fprintf(b, "\nSee: %s\n", strings.Join(see, ", "))
	}
}
