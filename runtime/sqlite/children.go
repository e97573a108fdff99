package sqlite

import (
	"context"
	"errors"

	idem "github.com/idemgen/idem/runtime"
)

// childrenSQL finds the rows of work that is an effect of other work: the effect's
// key is the child's ID, or a name that leads to it.
const childrenSQL = `
SELECT coalesce((SELECT leads_to FROM work_alias WHERE work_alias.work_id = effect_key), effect_key)
FROM effect_log ` + byEffect + ` WHERE work_id = ?1 AND guard = '` + string(idem.GuardWork) + `'`

// forgetChildren removes the children of work that begins a new life, and theirs:
// it would be given the results of the former one. Kinds do not go round in
// circles, so that this ends.
func (w *writer) forgetChildren(ctx context.Context, id string) error {
	children, err := w.children(ctx, id)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := w.forgetChildren(ctx, child); err != nil {
			return err
		}
		err := errors.Join(
			w.exec(ctx, &w.store.stmts.forgetEffects, child),
			w.exec(ctx, &w.store.stmts.forgetAttempts, child),
			w.exec(ctx, &w.store.stmts.forgetAliases, child, ""),
			w.exec(ctx, &w.store.stmts.forgetWork, child))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) children(ctx context.Context, id string) (children []string, err error) {
	err = w.each(ctx, &w.store.stmts.children, func(r scanner) error {
		var child string
		err := r.Scan(&child)
		children = append(children, child)
		return err
	}, id)
	return children, err
}
