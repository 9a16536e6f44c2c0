// Package proto reads and writes protobuf for generated codecs, in one pass and without reflection. It is the counterpart of
// package wire, whose values, errors and limits it shares.
package proto
