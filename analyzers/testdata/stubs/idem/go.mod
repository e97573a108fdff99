module github.com/idemgen/idem

go 1.21
