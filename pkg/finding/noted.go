// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// commands takes note of the words in the commands of a CronJob that scales something: kubectl scale, or a patch of
// replicas.
func (n *notes) commands(o *object.Parts) {
	spec := o.At("spec", "jobTemplate", "spec", "template", "spec")
	for _, list := range []string{"initContainers", "containers"} {
		for container := range spec.Field(list).Elements() {
			n.command(commandOf(container))
		}
	}
}

// commandOf are the words in the commands of a container that could be names: in its own, its hooks and its probes.
func commandOf(container object.JSON) []string { return wordsIn(textsOf(container)) }

func wordsIn(texts []string) (words []string) {
	for _, text := range texts {
		words = append(words, strings.FieldsFunc(text, isBetweenNames)...)
	}
	return words
}

// textsOf are the elements of the commands of a container, of its hooks and of its probes.
func textsOf(container object.JSON) (texts []string) {
	for _, path := range [][]string{
		{"command"},
		{"args"},
		{"lifecycle", "postStart", "exec", "command"},
		{"lifecycle", "preStop", "exec", "command"},
		{"startupProbe", "exec", "command"},
		{"readinessProbe", "exec", "command"},
		{"livenessProbe", "exec", "command"},
	} {
		for text := range container.At(path...).Elements() {
			texts = append(texts, text.Text())
		}
	}
	return texts
}

// waits takes note of the words in the texts of containers that wait for a Job: kubectl wait job/migrate, or the
// arguments of k8s-wait-for. One that names a namespace may mean a Job there. What is over waits no more.
func (f *Finder) waits(o *object.Parts) {
	if hasEnded(o) || isEnded(o) {
		return
	}
	f.Table.EachTemplate(o, func(_, spec object.JSON) {
		for _, list := range []string{"initContainers", "containers"} {
			for container := range spec.Field(list).Elements() {
				if mayWait(container) {
					f.waitsFor(o, append(textsOf(container), envOf(container)...), variablesOf(container))
				}
			}
		}
	})
}

// mayWait reports whether a container may name a Job, or Pods. Most do not, and for them a look at each word would take
// longer than all else that is done with a Pod.
func mayWait(container object.JSON) bool {
	lower := bytes.ToLower(container)
	for _, sign := range []string{"job", "pod", `\u00`} { // the last may be any letter
		if bytes.Contains(lower, []byte(sign)) {
			return true
		}
	}
	return false
}

func (n *notes) waitsFor(o *object.Parts, texts, variables []string) {
	words := slices.Concat(wordsIn(texts), variables)
	begins := func(words []string, beginnings ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(beginnings, func(begin string) bool { return strings.HasPrefix(word, begin) })
		})
	}
	lower := wordsIn([]string{strings.ToLower(strings.Join(texts, " "))}) // kubectl takes Job.v1.batch, too
	isOfJobs := begins(words, "job") || begins(lower, "job")
	if !isOfJobs && !begins(lower, "pod") {
		return
	}
	in := o.Namespace
	if begins(words, "-n", "--namespace") {
		in = anyNamespace
	}
	n.waitsForLabels(in, texts)
	if !isOfJobs {
		return
	}
	if begins(lower, "wait", "kubectl", "job-w") && isVague(texts) {
		n.waited[[2]string{strings.Clone(in), anyJob}] = true
		n.bytes += int64(96 + len(in))
	}
	for _, word := range words {
		if name := strings.Trim(word, "-."); len(name) <= validation.DNS1123SubdomainMaxLength {
			n.waited[[2]string{strings.Clone(in), strings.Clone(name)}] = true
			n.bytes += int64(96 + len(in) + len(name))
		}
	}
}

// waitsForLabels takes note of labels in texts, as in "kubectl wait job -l app=migrate" and "pod-wr -lapp=migrate".
func (n *notes) waitsForLabels(in string, texts []string) {
	for _, word := range strings.FieldsFunc(strings.Join(texts, " "), isBetweenLabels) {
		for _, flag := range []string{"--selector=", "-l=", "-l"} {
			word = strings.TrimPrefix(word, flag)
		}
		label, value, is := strings.Cut(strings.Replace(word, "==", "=", 1), "=")
		known := [2]string{in, label + "=" + value}
		if !is || label == "" || value == "" || n.waited[known] {
			continue
		}
		known[0] = strings.Clone(in)
		n.waited[known] = true
		n.bytes += int64(96 + len(in) + len(word))
	}
}

// isBetweenLabels reports whether a rune is neither in a label nor between its name and its value.
func isBetweenLabels(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./=", r)
}

// isVague reports whether texts may choose Jobs other than by a name or by the value of a label: by a variable, by a
// selector with a set or without a value, or all of them.
func isVague(texts []string) bool {
	text := strings.Join(texts, " ")
	if strings.ContainsAny(text, "$`") {
		return true
	}
	words := strings.Fields(text)
	for i, word := range words {
		selector, isSelector := strings.CutPrefix(strings.Replace(word, "--selector", "-l", 1), "-l")
		if selector == "" && i+1 < len(words) {
			selector = words[i+1]
		}
		_, value, hasValue := strings.Cut(strings.TrimPrefix(selector, "="), "=")
		isOfOne := hasValue && value != "" && !strings.Contains(selector, "!")
		if word == "--all" || isSelector && !isOfOne {
			return true
		}
	}
	return false
}

// anyJob stands for all Jobs of a namespace.
const anyJob = "*"

// anyNamespace stands for all namespaces.
const anyNamespace = "*"

// envOf are the values of a container's variables.
func envOf(container object.JSON) (values []string) {
	for variable := range container.Field("env").Elements() {
		values = append(values, variable.Field("value").Text())
	}
	return values
}

// variablesOf are the words in the values of a container's variables, and in their names, as in WAIT_FOR_JOB.
func variablesOf(container object.JSON) (words []string) {
	for variable := range container.Field("env").Elements() {
		for _, text := range []string{strings.ToLower(variable.Field("name").Text()), variable.Field("value").Text()} {
			words = append(words, strings.FieldsFunc(text, isBetweenNames)...)
		}
	}
	return words
}

func (n *notes) command(words []string) {
	scales := false
	for _, word := range words {
		scales = scales || strings.Contains(word, "scale") || strings.Contains(word, "replicas")
	}
	for _, word := range words {
		name := strings.Trim(word, "-.")
		if !scales || n.commanded[name] || len(name) > validation.DNS1123SubdomainMaxLength {
			continue
		}
		n.commanded[strings.Clone(name)] = true // a part of it would keep the whole command
		n.bytes += int64(64 + len(name))
	}
}

func isBetweenNames(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
}

// madeByHand takes note of the CronJob from which somebody made a Job.
func (n *notes) madeByHand(o *object.Parts) {
	if annotation(o, "cronjob.kubernetes.io/instantiate") != "manual" {
		return
	}
	n.noteOwners(n.byHand, o, cronJobs)
}

// queue takes note of the Job that Kueue made a Workload for. The label of a queue is on a Job only if somebody set it:
// a queue may also be the default of a namespace, or Kueue may manage all Jobs.
func (n *notes) queue(o *object.Parts) { n.noteOwners(n.queued, o, jobs) }

// noteOwners takes note of the owners of an object that are of a kind of the group batch.
func (n *notes) noteOwners(to map[graph.Name]bool, o *object.Parts, kind schema.GroupKind) {
	for owner := range o.At("metadata", "ownerReferences").Elements() {
		if group, _, _ := strings.Cut(owner.Field("apiVersion").Text(), "/"); group == batchv1.GroupName &&
			owner.Field("kind").Text() == kind.Kind {
			name := graph.Name{GroupKind: kind, Namespace: strings.Clone(o.Namespace), Name: owner.Field("name").Text()}
			to[name] = true
			n.bytes += int64(192 + len(name.Namespace) + len(name.Name))
		}
	}
}

// claim takes note of the volume that a claim waits for.
func (n *notes) claim(o *object.Parts) {
	if o.At("status", "phase").Text() != string(corev1.ClaimBound) {
		n.await(o.At("spec", "volumeName").Text())
	}
}

func (n *notes) await(volume string) {
	if volume != "" {
		n.awaited[volume] = true
		n.bytes += int64(64 + len(volume))
	}
}

// claimTemplates takes note of the volumes that the claims of a StatefulSet ask for.
func (n *notes) claimTemplates(o *object.Parts) {
	for template := range o.At("spec", "volumeClaimTemplates").Elements() {
		n.await(template.At("spec", "volumeName").Text())
	}
}
