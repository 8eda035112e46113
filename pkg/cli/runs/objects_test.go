// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/cluster"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// TestAllOutcomesHaveAPlace: --outcome must know each that a record may have.
func TestAllOutcomesHaveAPlace(t *testing.T) {
	source, err := os.ReadFile("../../../api/v1alpha1/outcome.go")
	if err != nil {
		t.Fatal(err)
	}
	enum := regexp.MustCompile(`// \+kubebuilder:validation:Enum=(Planned;\S+)`).FindStringSubmatch(string(source))
	if enum == nil {
		t.Fatal("there is no enum of outcomes")
	}
	var have []string
	for _, o := range cluster.Outcomes() {
		have = append(have, string(o))
	}
	want := strings.Split(enum[1], ";")
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// objects are written "Outcome APIVERSION Kind namespace/name reason".
func objects(lines ...string) []v1alpha1.ObjectOutcome {
	var list []v1alpha1.ObjectOutcome
	for _, line := range lines {
		words := strings.SplitN(line, " ", 5)
		namespace, name, _ := strings.Cut(words[3], "/")
		list = append(list, v1alpha1.ObjectOutcome{Outcome: v1alpha1.OutcomeResult(words[0]), APIVersion: words[1], Kind: words[2], Namespace: namespace, Name: name, Reason: words[4]})
	}
	return list
}

func names(list []v1alpha1.ObjectOutcome) string {
	var words []string
	for _, o := range list {
		words = append(words, o.Name)
	}
	return strings.Join(words, " ")
}

var mixed = objects(
	"Protected v1 ConfigMap shop/p kept",
	"Matched v1 ConfigMap shop/spared protected: annotated cleaner/protect",
	"DryRun v1 ConfigMap blog/spared protected: annotated cleaner/protect",
	"Matched v1 ConfigMap shop/z unused",
	"Matched v1 ConfigMap blog/y unused",
	"Deleted apps/v1 Deployment shop/d unused",
	"Denied apps/v1 Deployment shop/w a webhook said no",
	"Later v1 ConfigMap shop/l of a later version",
)

func TestFilter(t *testing.T) {
	for name, test := range map[string]struct {
		filter filter
		want   string
	}{
		"all, and protected ones last":  {filter{}, "w d y z p l spared spared"},
		"an outcome in any case":        {filter{outcomes: []string{"deleted", "DENIED"}}, "w d"},
		"a namespace":                   {filter{namespaces: []string{"blog"}}, "y spared"},
		"a kind":                        {filter{kinds: []string{"deployment"}}, "w d"},
		"a kind of a group":             {filter{kinds: []string{"Deployment.apps"}}, "w d"},
		"a kind of another group":       {filter{kinds: []string{"Deployment.example.com"}}, ""},
		"all of them":                   {filter{outcomes: []string{"Matched"}, namespaces: []string{"shop"}, kinds: []string{"ConfigMap"}}, "z spared"},
		"a kind without a group, plain": {filter{kinds: []string{"ConfigMap"}}, "y z p l spared spared"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(test.filter.inOrder(mixed)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got, want := (&filter{outcomes: []string{"Delete"}}).check(), `--outcome "Delete": there is no such outcome; did you mean Deleted?`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGroups(t *testing.T) {
	var got []string
	for _, g := range (&filter{}).groups(&v1alpha1.CleanerRun{}, (&filter{}).inOrder(append(mixed, objects("Deleted apps/v1 Deployment shop/e another cause")...))) {
		got = append(got, strings.Join([]string{string(g.of.Outcome), g.of.Kind, g.of.Namespace, string(rune('0' + g.count)), g.words()}, " "))
	}
	want := []string{
		"Denied Deployment shop 1 a webhook said no", "Deleted Deployment shop 2 2 reasons, for example: unused", "Matched ConfigMap blog 1 unused", "Matched ConfigMap shop 1 unused",
		"Protected ConfigMap shop 1 kept", "Later ConfigMap shop 1 of a later version",
		"DryRun ConfigMap blog 1 protected: annotated cleaner/protect", "Matched ConfigMap shop 1 protected: annotated cleaner/protect",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Reasons that differ only in the object's own name are one reason.
func TestGroupsWithoutNames(t *testing.T) {
	for want, list := range map[string][]v1alpha1.ObjectOutcome{
		"nothing uses ConfigMap web-1": objects("Matched v1 ConfigMap shop/web-1 nothing uses ConfigMap web-1"),
		"nothing uses ConfigMap NAME":  objects("Matched v1 ConfigMap shop/web-1 nothing uses ConfigMap web-1", "Matched v1 ConfigMap shop/web-2 nothing uses ConfigMap web-2"),
		"no Pod uses it":               objects("Matched v1 ConfigMap shop/Pod no Pod uses it", "Matched v1 ConfigMap shop/uses no Pod uses it"),
		`2 reasons, for example: "web-1" is invalid`: objects(`Denied v1 ConfigMap shop/web-1 "web-1" is invalid`, `Denied v1 ConfigMap shop/web-2 "web-2" is invalid`,
			"Denied v1 ConfigMap shop/web-3 web-30 is in the way of it"),
		"2 reasons, for example: no Pod": objects("Matched v1 ConfigMap shop/Pod no Pod", "Matched v1 ConfigMap shop/a no Pod", "Matched v1 ConfigMap shop/b of no use"),
	} {
		groups := (&filter{}).groups(&v1alpha1.CleanerRun{}, list)
		if got := groups[0].words(); len(groups) != 1 || got != want {
			t.Errorf("%d groups, got %q, want %q", len(groups), got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	before := objects("Matched v1 ConfigMap shop/same -", "Matched v1 ConfigMap shop/done -", "Deleted v1 ConfigMap shop/gone -", "Matched v1 ConfigMap shop/kept -")
	now := objects("Matched v1 ConfigMap shop/same another reason", "Deleted v1 ConfigMap shop/done -", "Matched v1 Secret shop/same -", "Matched v1 ConfigMap shop/kept protected: annotated")
	compared := compare(before, now, 0, 0)
	var got []string
	for _, c := range compared.Changes {
		var name string
		if c.Now != nil {
			name = c.Now.Kind + "/" + c.Now.Name
		} else {
			name = c.Before.Kind + "/" + c.Before.Name
		}
		got = append(got, name+" "+outcomeOf(c.Before)+" -> "+outcomeOf(c.Now))
	}
	want := []string{"ConfigMap/done Matched -> Deleted", "Secret/same  -> Matched", "ConfigMap/kept Matched -> Matched (protected)", "ConfigMap/gone Deleted -> "}
	if diff := cmp.Diff(want, got); diff != "" || compared.Same != 1 || compared.Unknown != 0 {
		t.Errorf("%d are the same, %d unknown; (-want +got):\n%s", compared.Same, compared.Unknown, diff)
	}
}

// A group of which the record lists only a part, or nothing, does not look as if that were all.
func TestGroupsThatAreNotListedWhole(t *testing.T) {
	run := &v1alpha1.CleanerRun{}
	run.Status.Objects = objects("Denied v1 ConfigMap shop/a no", "Matched v1 ConfigMap shop/b unused", "Matched v1 ConfigMap shop/c unused", "Matched v1 ConfigMap blog/d protected: so")
	tally := func(namespace string, outcome v1alpha1.OutcomeResult, count int64) v1alpha1.ObjectTally {
		return v1alpha1.ObjectTally{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Outcome: outcome, Count: count}
	}
	run.Status.Tallies = []v1alpha1.ObjectTally{tally("shop", v1alpha1.OutcomeMatched, 3002), tally("blog", v1alpha1.OutcomeMatched, 7), tally("shop", v1alpha1.OutcomeDenied, 1)}
	run.Status.ObjectsOmitted = 3007
	for _, test := range []struct {
		filter filter
		want   []string
	}{
		{filter{}, []string{"Denied shop 1 no", "Matched shop 2 listed of 3,002 unused", "Matched blog 1 protected: so", "Matched blog 0 listed of 6 "}},
		{filter{namespaces: []string{"shop"}, outcomes: []string{"Matched"}}, []string{"Matched shop 2 listed of 3,002 unused"}},
	} {
		var got []string
		for _, g := range test.filter.groups(run, test.filter.inOrder(run.Status.Objects)) {
			got = append(got, strings.Join([]string{string(g.of.Outcome), g.of.Namespace, g.size(), g.words()}, " "))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// compare compares two runs that have so many objects more than they list.
func compare(before, now []v1alpha1.ObjectOutcome, omittedBefore, omittedNow int64) Comparison {
	var was, is v1alpha1.CleanerRun
	was.Status.Objects, was.Status.ObjectsOmitted = before, omittedBefore
	is.Status.Objects, is.Status.ObjectsOmitted = now, omittedNow
	return Compare(&was, &is, func(*v1alpha1.ObjectOutcome) bool { return true })
}

// Nothing is new or gone because a record had no room for it.
func TestCompareWhatIsNotListed(t *testing.T) {
	before := objects("Matched v1 ConfigMap shop/same -", "Matched v1 ConfigMap shop/a -")
	now := objects("Matched v1 ConfigMap shop/same -", "Matched v1 ConfigMap shop/b -", "Matched v1 ConfigMap shop/c -")
	for name, test := range map[string]struct {
		omittedBefore, omittedNow int64
		isNew, gone               int
		unknown                   int64
	}{
		"all are listed":        {0, 0, 2, 1, 0},
		"cut before":            {100, 0, 0, 1, 100},
		"cut before, by little": {1, 0, 0, 1, 2},
		"cut now":               {0, 100, 2, 0, 100},
		"cut both":              {100, 100, 0, 0, 102},
	} {
		c := compare(before, now, test.omittedBefore, test.omittedNow)
		var isNew, gone int
		for _, change := range c.Changes {
			if change.Before == nil {
				isNew++
			} else if change.Now == nil {
				gone++
			}
		}
		if isNew != test.isNew || gone != test.gone || c.Unknown != test.unknown || c.Same != 1 {
			t.Errorf("%s: %d new, %d gone, %d the same, %d unknown; want %+v", name, isNew, gone, c.Same, c.Unknown, test)
		}
	}
}

// A Scan lists what fits into its record: nobody is told that --limit 0 gives all.
func TestWhatARecordOmits(t *testing.T) {
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	o := &options{Session: &terminal.Session{IOStreams: streams, Options: terminal.Options{Getenv: func(string) string { return "" }}}, limit: 1}
	run := &v1alpha1.CleanerRun{}
	run.Name, run.Spec.Cleaner, run.Spec.Action, run.Status.ObjectsOmitted = "r", "tidy", v1alpha1.ActionScan, 2402
	o.printObjects(run, mixed)
	o.printOmitted(run, len(mixed))
	for _, want := range []string{"for all that the record lists: ", fmt.Sprintf("%d of %s objects are listed, because a CleanerRun has room for 256 KiB of objects; ", len(mixed), terminal.Thousands(int64(len(mixed)+2402))), "kubectl cleaner preview tidy --limit 0 lists all"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("%q is not in:\n%s", want, errOut)
		}
	}
}

// The column WHY of a run says its reason where it has no message, and what a run does that has no record yet.
func TestWhyOfRuns(t *testing.T) {
	for want, status := range map[string]v1alpha1.CleanerRunStatus{
		"2 deleted.":    {Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted, Message: "2 deleted."},
		"LimitExceeded": {Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonLimitExceeded},
		"it waits for its turn, and has touched nothing": {Phase: phaseWaiting},
		"it reads and judges, and has touched nothing":   {},
	} {
		if got := whyOf(&v1alpha1.CleanerRun{Status: status}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Phase and reason are one word where they would be the same.
func TestPhaseInWords(t *testing.T) {
	for want, status := range map[string]v1alpha1.CleanerRunStatus{
		"Failed":                {Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonFailed},
		"Interrupted":           {Phase: v1alpha1.RunInterrupted, Reason: v1alpha1.ReasonFailed},
		"Failed: LimitExceeded": {Phase: v1alpha1.RunFailed, Reason: v1alpha1.ReasonLimitExceeded},
		"Completed":             {Phase: v1alpha1.RunCompleted, Reason: v1alpha1.ReasonCompleted},
	} {
		if got := phaseWords(&v1alpha1.CleanerRun{Status: status}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
