package idem

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaceOfAClaim(t *testing.T) {
	id := func(name string) WorkID { return HashWorkID([]byte(name)) }
	type leads map[string]Standing // by the name of the ID; what is not there leads nowhere
	row := func(version int) Standing { return Standing{Version: version} }
	to := func(row string, version int) Standing {
		return Standing{Row: id(row), Aliased: true, Version: version}
	}
	for _, test := range []struct {
		name    string
		known   leads
		row     string
		aliases []string
		freed   bool
	}{
		{"new work goes under the oldest ID, and the others lead there", leads{}, "v1", []string{"v3", "v2"}, false},
		{"own row", leads{"v3": row(3), "v1": row(1)}, "v3", nil, false},
		{"own ID leads to a predecessor", leads{"v3": to("v1", 3), "v1": row(3)}, "v1", nil, false},
		{"own ID leads to the newer of two", leads{"v3": to("v2", 3), "v2": row(3), "v1": row(1)}, "v2", nil, false},
		{"row of the newest predecessor", leads{"v2": row(2), "v1": row(1)}, "v2", []string{"v3"}, false},
		{"row of the oldest predecessor", leads{"v1": row(1)}, "v1", []string{"v3"}, false},
		{"row that a program of the version before made under the oldest", leads{"v2": to("v1", 2), "v1": row(2)}, "v1", []string{"v3"}, false},
		{"row of another piece made by this version", leads{"v1": row(3)}, "v2", []string{"v3"}, false},
		{"row of another piece made by the version before", leads{"v1": row(2)}, "v2", []string{"v3"}, false},
		{"rows of other pieces under every old ID", leads{"v2": row(3), "v1": row(2)}, "v3", nil, false},
		{"another piece took the ID of the version before with it", leads{"v2": to("v1", 3), "v1": row(3)}, "v3", nil, false},
		{"coarser: an old row of its own beside what the new ID leads to", leads{"v3": to("other", 1), "v1": row(1)}, "v1", nil, false},
		{"coarser: nothing of its own", leads{"v3": to("other", 1)}, "other", nil, false},
		{"coarser: a predecessor leads to another's row", leads{"v2": to("other", 1)}, "other", []string{"v3"}, false},
		{"coarser: a predecessor leads to another's row, beside an old one", leads{"v2": to("other", 1), "v1": row(1)}, "v1", []string{"v3"}, false},
		{"coarser: an old work under a still older ID beside what the new ID leads to", leads{"v3": to("other", 2), "v2": to("v1", 2), "v1": row(2)}, "v1", nil, false},
		{"an alias to what is forgotten leads nowhere", leads{"v3": to("v1", 0), "v2": to("v1", 0)}, "v1", []string{"v3", "v2"}, false},
		{"and has to go if the row gets the ID", leads{"v2": to("v1", 0), "v1": row(2)}, "v2", []string{"v3"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Claim{Fence: Fence{ID: id("v3")}, Version: 3, Predecessors: []Predecessor{{id("v2"), 2}, {id("v1"), 1}}}
			var known []Standing
			for _, name := range []string{"v3", "v2", "v1"} {
				s := test.known[name]
				if !s.Aliased {
					s.Row = id(name)
				}
				known = append(known, s)
			}
			want := Place{Row: id(test.row), Freed: test.freed}
			for _, a := range test.aliases {
				want.Aliases = append(want.Aliases, id(a))
			}
			got, err := c.Place(known)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b WorkID) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (&Claim{}).Place(nil); err == nil {
		t.Error("a claim was placed by less than what is known of its IDs")
	}
}
