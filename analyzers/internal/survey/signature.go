package survey

import (
	"fmt"
	"go/types"
	"hash/fnv"
	"strings"
)

// signature is the name of a method and a short digest of its type, which is the
// same for methods of the same type in whatever package they are seen.
func signature(name string, sig *types.Signature) string {
	var b strings.Builder
	writeSignature(&b, sig, 0)
	h := fnv.New64a()
	h.Write([]byte(b.String()))
	return fmt.Sprintf("%s %016x", name, h.Sum64())
}

// maxDepth bounds how far a type is written; named types end it.
const maxDepth = 20

func writeSignature(b *strings.Builder, sig *types.Signature, depth int) {
	write := func(t *types.Tuple) {
		b.WriteByte('(')
		for v := range t.Variables() {
			writeType(b, v.Type(), depth+1)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	}
	b.WriteString("func")
	write(sig.Params())
	if sig.Variadic() {
		b.WriteString("...")
	}
	write(sig.Results())
}

// writeType writes a type without the names of parameters, which do not make types
// differ, and without aliases.
func writeType(b *strings.Builder, t types.Type, depth int) {
	if depth > maxDepth {
		b.WriteString("…")
		return
	}
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		b.WriteByte('*')
		writeType(b, t.Elem(), depth+1)
	case *types.Slice:
		b.WriteString("[]")
		writeType(b, t.Elem(), depth+1)
	case *types.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		writeType(b, t.Elem(), depth+1)
	case *types.Map:
		b.WriteString("map[")
		writeType(b, t.Key(), depth+1)
		b.WriteByte(']')
		writeType(b, t.Elem(), depth+1)
	case *types.Chan:
		fmt.Fprintf(b, "chan%d ", t.Dir())
		writeType(b, t.Elem(), depth+1)
	case *types.Signature:
		writeSignature(b, t, depth)
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil {
			b.WriteString(clean(p.Path()) + ".")
		}
		b.WriteString(t.Obj().Name())
		if args := t.TypeArgs(); args.Len() > 0 {
			b.WriteByte('[')
			for arg := range args.Types() {
				writeType(b, arg, depth+1)
				b.WriteByte(',')
			}
			b.WriteByte(']')
		}
	case *types.Interface: // of no name; any and interface{} are the same
		b.WriteString("interface{")
		for m := range t.Methods() {
			b.WriteString(m.Name())
			writeSignature(b, m.Signature(), depth+1)
		}
		b.WriteByte('}')
	default:
		b.WriteString(types.TypeString(t, func(p *types.Package) string { return clean(p.Path()) }))
	}
}
