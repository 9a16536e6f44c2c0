// Command measure prints how much hand-written code there is and how finely it is cut, what one message enters, the types with the
// most methods, the names that users can see, and how much of the runtime agents link. Run it in the repository's root: make figures.
// A test holds the first of these to the table in weight.txt.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("message", "", "handle one message and write its coverage here (the command calls itself so)")
	root := flag.String("C", ".", "the `folder` of the repository")
	list := flag.Bool("v", false, "list the packages, files and names, too")
	links := flag.Bool("linked", false, "print only what agents link")
	flag.Parse()
	if err := run(*root, *dir, *list, *links); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(root, dir string, list, links bool) error {
	if dir != "" {
		return handleMessage(dir)
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if links {
		return printLinked(list)
	}
	if err := printWeight(); err != nil {
		return err
	}
	if err := printEntered(list); err != nil {
		return err
	}
	if err := printDeclared(list); err != nil {
		return err
	}
	return printLinked(list)
}
