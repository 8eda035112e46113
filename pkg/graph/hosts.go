// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "bytes"

// visitName visits a word, which may be in the namespace that stands before it, too. Names neither begin nor end with
// a dot or a dash: those are of the sentence, or of a flag. A short word can only be the name of something that is
// cluster-scoped, and is visited with "*".
func visitName(namespace, before string, word []byte, visit func(namespace string, word []byte)) {
	word = bytes.Trim(word, "-.")
	add := func(namespace string, word []byte) {
		switch {
		case len(word) >= shortestMention:
			visit(namespace, word)
		case len(word) >= shortestInCluster && bytes.IndexByte(word, anyText) < 0:
			visit("*", word)
		}
	}
	add(namespace, word)
	if before != "" {
		add(before, word)
		if len(word) > 0 && len(word) < shortestMention {
			visit(before+shortName, word)
		}
	}
	if host, rest, found := bytes.Cut(word, []byte{'.'}); found {
		addLast(namespace, word, add)
		visitHost(namespace, host, rest, add)
	}
}

// visitHost visits the labels of a word with dots. The first label of a word such as web.shop.svc is a name in the
// namespace that is the second, and the second label of kafka-0.kafka.shop.svc in the namespace that is the third. With
// a dash, the first label may have a key behind it, as in db-login.password.
func visitHost(namespace string, host, rest []byte, add func(namespace string, word []byte)) {
	if bytes.IndexByte(host, '-') >= 0 && !bytes.Contains(rest, []byte("svc")) {
		add(namespace, host)
	}
	within, rest, isLonger := bytes.Cut(rest, []byte{'.'})
	add(string(within), host)
	switch after, _, _ := bytes.Cut(rest, []byte{'.'}); {
	case isLonger:
		add(string(after), within)
	case isPodOfSet(host):
		add(namespace, within)
	}
}

// addLast adds what a key of settings ends with, as in spark.kubernetes.driver.secrets.login.
func addLast(namespace string, word []byte, add func(namespace string, word []byte)) {
	i := bytes.LastIndexByte(word, '.')
	if last := word[i+1:]; bytes.IndexByte(last, '-') >= 0 || bytes.HasSuffix(word[:i], []byte(".secrets")) {
		add(namespace, last)
	}
}

// shortName follows the namespace of a name that is too short to count unless its namespace stands before it.
const shortName = "/"

// isPodOfSet reports whether a word may be the name of a Pod of a StatefulSet, as in kafka-0.kafka.
func isPodOfSet(word []byte) bool {
	name := bytes.TrimRight(word, "0123456789"+string(anyText))
	return len(name) < len(word) && (len(name) == 0 || name[len(name)-1] == '-')
}
