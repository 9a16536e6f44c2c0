package config

import (
	"slices"
	"strings"
)

// Store is where an agent keeps its tasks. It is a row of [Stores], which the generator, init and its command line range
// over.
type Store struct {
	Word string // in a2agen.yaml and after "init --store": "sqlite"
	Says string // what it is, to follow the word and a comma: "a file that outlives it"
	// Package is the package of this module that opens it, by OpenStore: "runtime/store/sqlite". The modules that it needs
	// stand in package a2agen ("Chosen"). "" is the memory of the process, which package server has itself.
	Package string
	// File is what the name of the file ends with in which it keeps the tasks: ".db". "" is no file.
	File string
	// Server is what a new project says of one that is a server; nil: it is none. Generated code has no address of it.
	Server *StoreServer
}

// StoreServer is a store to which agents connect.
type StoreServer struct {
	Title     string // its name for people: "PostgreSQL"
	Address   string // what A2A_STORE is like: "postgres://USER@HOST/DATABASE"
	Otherwise string // where the address is from if that is not set: "libpq's variables (PGHOST, PGSERVICE, …)"
}

// Stores are all stores, the default one first. Only tests change it.
var Stores = []Store{
	{Word: "memory", Says: "which ends with the process"},
	{Word: "sqlite", Says: "a file that outlives it", Package: "runtime/store/sqlite", File: ".db"},
	{Word: "postgres", Says: "a PostgreSQL database, which replicas of the agent share", Package: "runtime/store/postgres", Server: &StoreServer{
		Title: "PostgreSQL", Address: "postgres://USER@HOST/DATABASE", Otherwise: "the variables and files of libpq (`PGHOST`, `PGSERVICE`, `PGPASSFILE`, …)",
	}},
}

// StoreWords returns the words of all stores, that of the default one first.
func StoreWords() []string {
	words := make([]string, len(Stores))
	for i, s := range Stores {
		words[i] = s.Word
	}
	return words
}

// StoreOf returns the store of a word; that of a word which is none is the zero value.
func StoreOf(word string) Store {
	return storeWhere(func(s Store) bool { return s.Word == word })
}

// StoreAt returns the store that a package opens; that of a package which opens none is the zero value.
func StoreAt(pkg string) Store {
	return storeWhere(func(s Store) bool { return s.Package == pkg && pkg != "" })
}

func storeWhere(is func(Store) bool) (s Store) {
	if i := slices.IndexFunc(Stores, is); i >= 0 {
		s = Stores[i]
	}
	return s
}

// InMemory reports whether the tasks end with the process.
func (s Store) InMemory() bool { return s.Package == "" }

// StoresInWords lists the stores: `"memory", which ends with the process, or "sqlite", a file`. quote is put around the words.
func StoresInWords(quote string) string {
	list := make([]string, len(Stores))
	for i, s := range Stores {
		list[i] = quote + s.Word + quote + ", " + s.Says
	}
	return strings.Join(list[:len(list)-1], ", ") + ", or " + list[len(list)-1]
}
