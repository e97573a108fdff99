module github.com/idemgen/idem/analyzers/cataloguetest

go 1.26.0

require github.com/idemgen/idem v0.0.0

require gopkg.in/yaml.v3 v3.0.1 // indirect

replace github.com/idemgen/idem => ../..
