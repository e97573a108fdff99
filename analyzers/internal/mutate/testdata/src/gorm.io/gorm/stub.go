// Package gorm stands for the library.
package gorm

import "errors"

var ErrRecordNotFound = errors.New("record not found")

type DB struct {
	Error        error
	RowsAffected int64
}

func (db *DB) Where(query any, args ...any) *DB         { return db }
func (db *DB) Model(value any) *DB                      { return db }
func (db *DB) First(dest any, conds ...any) *DB         { return db }
func (db *DB) Take(dest any, conds ...any) *DB          { return db }
func (db *DB) Find(dest any, conds ...any) *DB          { return db }
func (db *DB) Count(n *int64) *DB                       { return db }
func (db *DB) Create(value any) *DB                     { return db }
func (db *DB) Save(value any) *DB                       { return db }
func (db *DB) Update(column string, value any) *DB      { return db }
func (db *DB) Updates(values any) *DB                   { return db }
func (db *DB) Delete(value any, conds ...any) *DB       { return db }
func (db *DB) Clauses(conds ...any) *DB                 { return db }
func (db *DB) Exec(sql string, values ...any) *DB       { return db }
func (db *DB) Raw(sql string, values ...any) *DB        { return db }
func (db *DB) Scan(dest any) *DB                        { return db }
func (db *DB) FirstOrCreate(dest any, conds ...any) *DB { return db }
func (db *DB) Transaction(fc func(tx *DB) error) error  { return fc(db) }
