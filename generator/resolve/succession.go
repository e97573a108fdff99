package resolve

import (
	"github.com/idemgen/idem/contracts"
	"github.com/idemgen/idem/contracts/lock"
	"github.com/idemgen/idem/generator/model"
)

// resolvePredecessors resolves the identities of the versions that the contract
// honours.
func (c *contract) resolvePredecessors(m *model.Contract) {
	file := c.options.Locks[c.src.module.root]
	for _, v := range file.Honored(c.spec) {
		if old := c.predecessor(m, file, v); old != nil {
			m.Honored = append(m.Honored, old)
		}
	}
}

// predecessor resolves one; nil after a report.
func (c *contract) predecessor(m *model.Contract, file *lock.File, v lock.Version) *model.Contract {
	id, err := c.recall(v)
	if err != nil {
		c.underivable(file, v, err.Error(), nil)
		return nil
	}
	spec := *c.spec
	spec.Version.V, spec.Identity, spec.Supersedes = v.Number, id, contracts.Supersedes{}
	then := &contract{pkg: c.pkg, file: c.file, spec: &spec, in: c.in, honored: true}
	old := &model.Contract{Spec: &spec, Receiver: m.Receiver, In: m.In, Out: m.Out}
	before := len(c.diags)
	then.identity(old, then.normalizers(id))
	told := c.diags[before:]
	c.diags = c.diags[:before:before]
	for _, d := range told {
		if d.Severity == contracts.Error {
			c.underivable(file, v, d.Msg, d.Related)
			return nil
		}
	}
	return old
}

func (c *contract) underivable(file *lock.File, v lock.Version, why string, related []contracts.Related) {
	d := c.fail(c.spec.Supersedes.Version.Pos, "supersedes.version", nil,
		"the keys of version %d cannot be derived any more: %s. Restore what is missing (beside what is new, if need be), or write old_work: reprocess, with which all work of version %[1]d is new%[3]s",
		v.Number, why, lock.Chained(c.spec, file.Path, v.Number))
	d.Related = append(d.Related, related...)
	file.Locked(d, v)
}

// identityUse is what forms of the identity are for.
func (c *contract) identityUse() usage {
	if c.honored {
		return forHonored
	}
	return forIdentity
}
