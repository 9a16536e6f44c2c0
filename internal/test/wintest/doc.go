// Package wintest holds tests of the command and of an agent as they are built for Windows, under wine: "make windows" runs them.
//
// What wine does not show: a file that another program keeps open can be replaced there, as on Unix; folders have no access control
// lists; a process gets no Ctrl-C. What the file system of Windows refuses is tried in package project with files that refuse.
package wintest
