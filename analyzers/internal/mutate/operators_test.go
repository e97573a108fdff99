package mutate

import (
	"fmt"
	"strings"
)

// operator makes one kind of mistake wherever a handler lets it.
type operator struct {
	name string
	make func(h *handler) []mutation
}

// operators are all of them, in the order of the rules.
func operators() []operator {
	return []operator{
		{"the key is new on every attempt", newKeys},
		{"what changes goes into the hash", volatileParts},
		{"parts run together", unframed},
		{"the key is missing from a retry", keyless},
		{"the retry has no end", endless},
		{"a lookup takes the place of the claim", unclaimed},
		{"the error of a lookup is dropped", lookupErrors},
		{"marks are in memory", inMemory},
		{"the error of the mark is dropped", unrecorded},
		{"the mark comes first", marksFirst},
		{"the claim stays when the effect fails", unreleased},
		{"the message is acknowledged all the same", acknowledged},
	}
}

// newKeys: key is an expression that becomes a key.
func newKeys(h *handler) []mutation {
	ways := []struct {
		what, expr, decls string
		imports           []string
	}{
		{"a random UUID", `uuid.NewString()`, "", []string{"github.com/google/uuid"}},
		{"a random UUID appended", `%s + "-" + uuid.New().String()`, "", []string{"github.com/google/uuid"}},
		{"the clock appended", `fmt.Sprintf("%%s-%%d", %s, time.Now().UnixNano())`, "", []string{"fmt", "time"}},
		{"the clock alone", `strconv.FormatInt(time.Now().UnixNano(), 36)`, "", []string{"strconv", "time"}},
		{"a ULID", `ulid.Make().String()`, "", []string{"github.com/oklog/ulid/v2"}},
		{"an xid in a format", `fmt.Sprintf("%%s:%%s", %s, xid.New())`, "", []string{"fmt", "github.com/rs/xid"}},
		{"a random number", `strings.Join([]string{%s, strconv.Itoa(rand.Int())}, "/")`, "", []string{"strings", "strconv", "math/rand"}},
		{"a helper with an innocent name", `reference()`, "func reference() string {\n\tu, err := uuid.NewV7()\n\tif err != nil {\n\t\treturn \"\"\n\t}\n\treturn u.String()\n}\n", []string{"github.com/google/uuid"}},
		{"a helper that decorates", `decorate(%s)`, "func decorate(s string) string { return s + suffix() }\n\nfunc suffix() string { return hex.EncodeToString(random(8)) }\n\nfunc random(n int) []byte {\n\tb := make([]byte, n)\n\t_, _ = crand.Read(b)\n\treturn b\n}\n", []string{"encoding/hex"}},
		{"the process", `%s + strconv.Itoa(os.Getpid())`, "", []string{"strconv", "os"}},
	}
	var all []mutation
	for _, m := range h.all("key") {
		for _, way := range ways {
			expr := way.expr
			if strings.Contains(expr, "%s") {
				expr = fmt.Sprintf(expr, h.text(m))
			}
			imports := way.imports
			if strings.Contains(way.decls, "crand.") {
				way.decls = strings.ReplaceAll(way.decls, "crand.", "rand.")
				imports = append(imports, "crypto/rand")
			}
			all = append(all, mutation{
				h: h, what: way.what, rules: []string{"randomkey", "retrykey"}, imports: imports, decls: way.decls,
				edits: append(sinks(h, m), edit{m.open, m.close, expr + here}),
			})
		}
	}
	return all
}

// sinks point at where a key that is made elsewhere is used: it is as right to say
// there that it is new.
func sinks(h *handler, made mark) []edit {
	var all []edit
	for _, m := range h.all("key") {
		if m.open != made.open {
			all = append(all, edit{m.open, m.open, here})
		}
	}
	return all
}

// volatileParts: hashed is a text that is hashed into a key; field and type stand in
// a literal and a struct that are encoded for it.
func volatileParts(h *handler) []mutation {
	ways := []struct {
		what, expr string
		imports    []string
	}{
		{"the time", `%s + time.Now().String()`, []string{"time"}},
		{"the time in nanoseconds", `%s + "|" + strconv.FormatInt(time.Now().UnixNano(), 10)`, []string{"time", "strconv"}},
		{"a random text", `fmt.Sprintf("%%s|%%s", %s, uuid.NewString())`, []string{"fmt", "github.com/google/uuid"}},
	}
	var all []mutation
	rules := []string{"volatilehash", "randomkey"}
	for _, m := range h.all("hashed") {
		for _, way := range ways {
			all = append(all, mutation{
				h: h, what: way.what + " in the hash", rules: rules, imports: way.imports,
				edits: append(sinks(h, m), edit{m.open, m.close, fmt.Sprintf(way.expr, h.text(m)) + here}),
			})
		}
	}
	for _, m := range h.all("field") {
		typ, _ := h.after("type", 0)
		all = append(all, mutation{
			h: h, what: "a volatile field in what is encoded", rules: rules, imports: []string{"time"},
			edits: []edit{{typ.open, typ.close, typ.other}, {m.open, m.close, m.other + here}},
		})
	}
	return all
}

// unframed: sep is a separator, frame a format that frames its parts, sorted puts
// keys in order and range goes over them.
func unframed(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("sep") {
		all = append(all, mutation{h: h, what: "no separator", rules: []string{"canonhash"}, edits: []edit{{m.open, m.close, `""` + here}}})
	}
	for _, m := range h.all("frame") {
		all = append(all, mutation{h: h, what: "no frame", rules: []string{"canonhash"}, edits: []edit{{m.open, m.close, m.other + here}}})
	}
	for _, m := range h.all("range") {
		s, _ := h.after("sorted", 0)
		frame, _ := h.after("frame", m.end)
		all = append(all, mutation{
			h: h, what: "in the order of a map", rules: []string{"canonhash"},
			edits: []edit{{s.open, s.close, ""}, {m.open, m.close, m.other + here}, {frame.open, frame.open, here}},
		})
	}
	return all
}

// keyless: setkey gives the key to what is repeated, keydef makes it before, and
// loop is where each attempt begins.
func keyless(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("setkey") {
		def, _ := h.after("keydef", 0)
		all = append(all, mutation{
			h: h, what: "no key", rules: []string{"retrykey"},
			edits: []edit{repeats(h), {def.open, def.close, ""}, {m.open, m.close, strings.TrimPrefix(strings.TrimSpace(m.other), "_ = key")}},
		})
		loop, _ := h.after("loop", 0)
		for _, way := range []struct{ what, expr, path string }{
			{"a random key", "uuid.NewString()", "github.com/google/uuid"},
			{"a key by the clock", "time.Now().Format(time.RFC3339Nano)", "time"},
			{"a ULID", "ulid.Make().String()", "github.com/oklog/ulid/v2"},
		} {
			all = append(all, mutation{
				h: h, what: way.what + " for each attempt", rules: []string{"retrykey", "randomkey"}, imports: []string{way.path},
				edits: []edit{repeats(h), {def.open, def.close, ""}, {loop.open, loop.close, "key := " + way.expr + here + "\n"}, {m.open, m.open, here}},
			})
		}
	}
	return all
}

// repeats points at where the retry begins.
func repeats(h *handler) edit {
	for _, word := range []string{"\n\tfor ", "backoff.Retry(", "retry.Do("} {
		if i := strings.Index(h.src, word); i >= 0 {
			i += len(word) - len(strings.TrimLeft(word, "\n\t"))
			return edit{i, i, here}
		}
	}
	return edit{}
}

// endless: bound is what ends a retry, and wait how long it waits.
func endless(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("bound") {
		edits := []edit{repeats(h), {m.open, m.close, m.other}}
		for _, wait := range h.all("wait") {
			edits = append(edits, edit{wait.open, wait.close, wait.other})
		}
		all = append(all, mutation{h: h, what: "no bound", rules: []string{"unboundedretry"}, edits: edits})
	}
	return all
}

// unclaimed: claim takes work before the effect, and says which lookup may take its
// place; effect says what then records it. insert is a statement that leaves out
// what is there, unclaimed a claim that a read of the status comes before.
func unclaimed(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("claim") {
		effect, ok := h.after("effect", m.end)
		if !ok || m.other == "" || effect.other == "" {
			continue
		}
		edits := []edit{{m.open, m.close, here + strings.Replace(m.other, "@", here, 1)}, {effect.close, effect.close, "\n" + effect.other + "\n"}}
		edits = append(edits, without(h, "release")...)
		edits = append(edits, without(h, "mark")...)
		all = append(all, mutation{h: h, what: "a lookup before and a record after", rules: []string{"checkinsert"}, edits: edits})
	}
	for _, m := range h.all("insert") {
		all = append(all, mutation{h: h, what: "no ON CONFLICT", rules: []string{"checkinsert"}, edits: []edit{{m.open, m.close, here + m.other}}})
	}
	for _, m := range h.all("unclaimed") {
		look := strings.LastIndex(h.src[:m.open], ".Get(")
		all = append(all, mutation{h: h, what: "only the status is read", rules: []string{"checkinsert"}, edits: []edit{{look, look, here}, {m.open, m.close, ""}}})
	}
	return all
}

func without(h *handler, name string) []edit {
	var all []edit
	for _, m := range h.all(name) {
		all = append(all, edit{m.open, m.close, ""})
	}
	return all
}

// lookupErrors: look is a lookup whose error is looked at.
func lookupErrors(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("look") {
		all = append(all, mutation{h: h, what: "dropped", rules: []string{"checkinsert"}, edits: []edit{{m.open, m.close, here + m.other}}})
		logged := strings.Replace(h.text(m), "return nil, err", "log.Print(err)", 1)
		all = append(all, mutation{h: h, what: "logged", rules: []string{"checkinsert"}, imports: []string{"log"}, edits: []edit{{m.open, m.close, here + logged}}})
	}
	return all
}

// inMemory: claim takes work before the effect, skip ends what is not ours, and id
// says what the work is known by.
func inMemory(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("claim") {
		skip, ok := h.inside("skip", m)
		id, found := h.after("id", m.end)
		if !ok || !found {
			continue
		}
		key, leave := id.other, h.text(skip)
		if key == "" {
			key = h.text(id)
		}
		for _, way := range []struct {
			what, code, decls string
			imports           []string
		}{
			{"a map", here + "if done[KEY] {\nLEAVE\n}\ndone[KEY] = true", "var done = map[string]bool{}\n", nil},
			{"a set", here + "if _, ok := done[KEY]; ok {\nLEAVE\n}\ndone[KEY] = struct{}{}", "var done = map[string]struct{}{}\n", nil},
			{"a map behind a mutex", "doneMu.Lock()\n" + here + "_, ok := done[KEY]\ndone[KEY] = time.Now()\ndoneMu.Unlock()\nif ok {\nLEAVE\n}", "var (\n\tdoneMu sync.Mutex\n\tdone = map[string]time.Time{}\n)\n", []string{"sync", "time"}},
			{"a sync.Map", here + "if _, loaded := done.LoadOrStore(KEY, true); loaded {\nLEAVE\n}", "var done sync.Map\n", []string{"sync"}},
			{"an LRU", here + "if _, ok := done.Get(KEY); ok {\nLEAVE\n}\ndone.Add(KEY, struct{}{})", "var done *lru.Cache[string, struct{}]\n", []string{"github.com/hashicorp/golang-lru/v2"}},
			{"a cache", here + "if _, found := done.Get(KEY); found {\nLEAVE\n}\ndone.Set(KEY, true, time.Hour)", "var done *cache.Cache\n", []string{"github.com/patrickmn/go-cache", "time"}},
		} {
			code := strings.NewReplacer("KEY", key, "LEAVE", leave).Replace(way.code)
			all = append(all, mutation{
				h: h, what: way.what, rules: []string{"memdedupe"}, imports: way.imports, decls: way.decls,
				edits: append([]edit{{m.open, m.close, code}}, without(h, "release")...),
			})
		}
	}
	return all
}

// unrecorded: mark records that an effect is over, by call, or by call2 if that has
// two results.
func unrecorded(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("mark") {
		call, ok := h.inside("call", m)
		blank := "_"
		if !ok {
			call, ok = h.inside("call2", m)
			blank = "_, _"
		}
		if !ok {
			continue
		}
		text := h.text(call)
		err := strings.Replace(blank+" = "+text, "_ =", "err :=", 1)
		ways := []struct{ what, code string }{
			{"dropped", blank + " = " + text},
			{"logged", "if " + err + "; err != nil {\nlog.Printf(\"mark: %v\", err)\n}"},
			{"logged and left", "if " + err + "; err != nil {\nlog.Print(err)\nreturn nil\n}"},
		}
		if !strings.HasSuffix(text, ".Error") {
			ways = append(ways, struct{ what, code string }{"not looked at", text}, struct{ what, code string }{"in a goroutine", "go " + text})
		}
		for _, way := range ways {
			all = append(all, mutation{
				h: h, what: way.what, rules: []string{"effectorder"}, imports: []string{"log"},
				edits: []edit{{m.open, m.close, here + strings.Replace(way.code, text, here+text, 1)}},
			})
		}
	}
	return all
}

// marksFirst: mark, or marks, comes before effect instead of after it.
func marksFirst(h *handler) []mutation {
	var all []mutation
	for _, name := range []string{"mark", "marks"} {
		for _, m := range h.all(name) {
			var effect mark
			for _, e := range h.all("effect") {
				if e.end < m.start {
					effect = e
				}
			}
			first := h.text(m)
			if effect.name == "" || name == "mark" && uses(h, m, effect) {
				continue
			}
			lines := strings.Split(first, "\n")
			for i := range lines {
				lines[i] += here
			}
			edits := []edit{{effect.open, effect.open, strings.Join(lines, "\n") + "\n"}, {m.open, m.close, ""}}
			all = append(all, mutation{h: h, what: "before the effect", rules: []string{"effectorder"}, edits: append(edits, without(h, "release")...)})
		}
	}
	return all
}

// uses tells whether a mark needs what the effect gives.
func uses(h *handler, m, effect mark) bool {
	first, _, ok := strings.Cut(h.text(effect), ", err :=")
	return ok && !strings.Contains(first, " ") && strings.Contains(h.text(m), first+".")
}

// unreleased: release gives a claim back in the error branch; claimed is where a
// claim is made that is kept for long.
func unreleased(h *handler) []mutation {
	var all []mutation
	if _, ok := h.after("claimed", 0); !ok {
		return nil
	}
	claimed, _ := h.after("claimed", 0)
	for range h.all("release")[:1] {
		edits := append([]edit{{claimed.open, claimed.close, here + here2}}, without(h, "release")...)
		all = append(all, mutation{h: h, what: "no release", rules: []string{"effectorder"}, edits: edits})
	}
	return all
}

// here2 keeps the place on the line of what follows.
const here2 = " "

// acknowledged: ack acknowledges a message, nack gives it back, and fail is how the
// branch of an effect's error ends.
func acknowledged(h *handler) []mutation {
	var all []mutation
	for _, m := range h.all("nack") {
		all = append(all, mutation{h: h, what: "in the error branch", rules: []string{"effectorder"}, edits: []edit{{m.open, m.close, m.other + here}}})
		all = append(all, mutation{h: h, what: "after a logged error", rules: []string{"effectorder"}, edits: func() []edit {
			i := strings.Index(h.src[m.close:], "return")
			ack, _ := h.after("ack", m.end)
			return []edit{{m.open, m.close + i + len("return"), ""}, {ack.close, ack.close, here}}
		}()})
	}
	for _, ack := range h.all("ack") {
		text := strings.TrimPrefix(h.text(ack), "return ")
		effect, ok := h.after("effect", 0)
		if !ok || effect.start > ack.start {
			continue
		}
		first := here + text
		last := ""
		if strings.HasPrefix(h.text(ack), "return ") {
			first, last = here+"if err := "+text+"; err != nil {\nreturn err\n}", "return nil"
		}
		all = append(all, mutation{h: h, what: "before the effect", rules: []string{"effectorder"}, edits: []edit{{effect.open, effect.open, first + "\n"}, {ack.open, ack.close, last}}})
		if last == "" {
			all = append(all, mutation{h: h, what: "in a defer", rules: []string{"effectorder"}, edits: []edit{{effect.open, effect.open, here + "defer " + text + "\n"}, {ack.open, ack.close, last}}})
		}
	}
	for _, m := range h.all("fail") {
		all = append(all, mutation{
			h: h, what: "a failed job counts as done", rules: []string{"effectorder"}, imports: []string{"log"},
			edits: []edit{{m.open, m.close, "log.Print(err)\nreturn nil" + here}},
		})
	}
	return all
}
