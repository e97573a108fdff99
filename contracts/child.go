package contracts

import "gopkg.in/yaml.v3"

// ChildWork is the guard of an effect that is other work. Nobody writes it: an
// effect with work has it.
const ChildWork Guard = "work"

const wantKind = "the kind of another contract of this package, such as shipment"

// child reads the kind of the work that an effect is.
func (p *parser) child(e *Effect, it item) {
	v, ok := p.matching(it, wantKind, ValidName)
	if !ok {
		return
	}
	e.Work = v
	e.Guard = Value[Guard]{V: ChildWork, Pos: v.Pos, Set: true}
}

// checkChild reports what an effect says beside work: the other contract says it.
func (p *parser) checkChild(e *Effect, it item) {
	for i := 0; i+1 < len(it.node.Content); i += 2 {
		key := it.node.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue
		}
		at, path := p.span(key), join(it.path, clip(key.Value))
		switch key.Value {
		case "work", "was":
		case "guard":
			p.errorf(at, path, "guard and work are two answers to one question: keep one")
		case "once_per":
			p.errorf(at, path, "an effect that is other work happens once for each work, as the identity of %s tells it apart: leave once_per out", clip(e.Work.V))
		default:
			p.errorf(at, path, "an effect that is other work has no %s: what the contract of %s says holds for it", clip(key.Value), clip(e.Work.V))
		}
	}
}
