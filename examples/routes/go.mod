module example.com/routes

go 1.26.0

require github.com/a2agen/a2agen v0.0.0-00010101000000-000000000000

replace github.com/a2agen/a2agen => ../..
