// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/controllers"
	"github.com/kubecleaner/kubecleaner/pkg/metrics"
	"github.com/kubecleaner/kubecleaner/pkg/run"
)

// The tests here replace the CustomResourceDefinitions of the whole cluster, so they do not run beside others.

// schemaPath is what says which fields the API server keeps of Cleaners.
const schemaPath = "/openapi/v3/apis/apps.projectsveltos.io/v1alpha1"

// ofK8sCleaner are the CustomResourceDefinitions of k8s-cleaner.
func ofK8sCleaner(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile("../k8scleaner/crds.yaml")
	must(t, err)
	var found []*apiextensionsv1.CustomResourceDefinition
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var definition apiextensionsv1.CustomResourceDefinition
		must(t, yaml.UnmarshalStrict(document, &definition))
		found = append(found, &definition)
	}
	return found
}

// older is our CustomResourceDefinition of Cleaners without a field that narrows.
func older(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return lacking(t, "minAgeSeconds")
}

// lacking is our CustomResourceDefinition of Cleaners without a field of their selectors, nor the rules that read it.
func lacking(t *testing.T, field string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	definition := crd(t, "cleaners")
	root := rootOf(definition)
	spec := root.Properties["spec"]
	delete(spec.Properties["resourcePolicySet"].Properties["resourceSelectors"].Items.Schema.Properties, field)
	spec.XValidations = slices.DeleteFunc(spec.XValidations, func(r apiextensionsv1.ValidationRule) bool { return strings.Contains(r.Rule, "."+field) })
	root.Properties["spec"] = spec
	return definition
}

// install replaces CustomResourceDefinitions, and waits until the API server shows it. Ours are back when the test ends.
func (b *bench) install(outdated bool, definitions ...*apiextensionsv1.CustomResourceDefinition) {
	b.t.Helper()
	if outdated { // an edit just before would be in doubt
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
		b.t.Cleanup(func() { b.install(false, crd(b.t, "cleaners"), crd(b.t, "reports")) })
	}
	ctx := context.Background()
	for _, definition := range definitions {
		var live apiextensionsv1.CustomResourceDefinition
		live.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		must(b.t, b.user.Get(ctx, client.ObjectKey{Name: definition.Name}, &live))
		live.Spec = definition.Spec
		must(b.t, b.user.Update(ctx, &live))
	}
	began := time.Now()
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		b.showing.Step(time.Second)
		lacks, err := b.shown.Check(ctx)
		return (lacks != "") == outdated, err
	})
	b.clock.SetTime(b.clock.Now().Add(time.Second)) // however long that took: a run may go on meanwhile
	if err != nil {
		b.t.Errorf("waiting until the API server shows the schemas: %v", err)
	}
	b.t.Logf("the API server showed the schemas after %s", time.Since(began).Round(time.Millisecond))
}

// old makes a Cleaner select nothing that the test made.
func old(s *v1alpha1.ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](720 * 3600) }

// writes are the requests since the n-th that change something.
func (b *bench) writes(n int) (writes []string) {
	for _, request := range b.requests.of(n) {
		if !strings.HasPrefix(request, http.MethodGet+" ") {
			writes = append(writes, request)
		}
	}
	return writes
}

// TestForeignSchemaRunsNothing: with k8s-cleaner's CustomResourceDefinitions over ours, a Delete Cleaner of old objects reads as one
// of all objects. It does not run, the operator writes nothing to it, which would make the loss last, and it goes on as before when
// ours are back.
func TestForeignSchemaRunsNothing(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	l.startExecutor()
	l.ask("once")
	l.step()
	l.finish()
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "0 of 0 objects matched")
	b.wantNames("new")

	b.install(true, ofK8sCleaner(t)...)
	if l.now = b.get(l.now.Name); l.now.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds != nil || l.now.Status.LastHandledRunRequest != "" {
		t.Fatalf("the API server keeps the fields: this proves nothing: %+v", l.now)
	}
	before := b.requests.len()
	for i := range 20 { // it is due, its request reads as unanswered, and a run lasts less than a second
		l.at(l.first().Add(time.Duration(i) * time.Minute))
		if l.again < 20*time.Second || l.again > time.Minute {
			t.Fatalf("it is looked at again after %s", l.again)
		}
		l.wantActive(time.Time{})
	}
	b.wantNoRecord(run.Request{Cleaner: l.now.Name, Nominal: b.clock.Now().Add(time.Second).Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule}, "lack fields of this version of KubeCleaner")
	if writes := b.writes(before); len(writes) > 0 {
		t.Fatalf("the operator wrote: %v", writes)
	}
	b.wantNames("new")
	if records := l.records(); len(records) != 1 {
		t.Fatalf("there are %d runs", len(records))
	}

	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	if l.now.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds == nil {
		t.Fatal("the field is lost for good")
	}
	l.finish() // what was due meanwhile
	wantCondition(t, l.now, v1alpha1.ConditionRunSucceeded, "True", v1alpha1.ReasonCompleted, "0 of 0 objects matched")
	b.wantNames("new")
}

// staysOutdated checks that the Cleaner does not run when it is due, by this operator and by the next one, which remembers nothing.
func (l *life) staysOutdated() {
	l.t.Helper()
	for _, operator := range []*life{l, l.successor()} {
		operator.startExecutor()
		for i := range 3 {
			operator.at(operator.first().Add(time.Duration(i) * 24 * time.Hour))
			wantStalled(l.t, operator.now, v1alpha1.ReasonCRDOutdated, "may lack fields")
			operator.wantActive(time.Time{})
		}
	}
}

// TestFieldsThatGotLostBeforeTheFirstRun: no record says what the spec was, but an annotation does, which no CustomResourceDefinition drops.
func TestFieldsThatGotLostBeforeTheFirstRun(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	b.install(true, ofK8sCleaner(t)...)
	l.change(func(c *v1alpha1.Cleaner) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.RunRequestedAtAnnotation, "now")
	})
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	l.staysOutdated()
	b.wantNames("new")
	l.change(func(c *v1alpha1.Cleaner) { edited(old)(c) })
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}

// TestFieldsThatGotLost: who changes a Cleaner while the API server does not keep its fields, and be it an annotation, makes the loss
// last. When our CustomResourceDefinitions are back, the Cleaner is known to be another, and does not run before its author
// says what it is to do; nor is the request for a run answered, of which nobody knows whether it was before.
func TestFieldsThatGotLost(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	l.startExecutor()
	l.ask("once")
	l.step()
	l.finish()
	b.install(true, ofK8sCleaner(t)...)
	l.ask("why does it not run?")
	l.step()
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	next := l.successor() // it remembers nothing
	next.startExecutor()
	for i := range 3 {
		next.at(next.first().Add(time.Duration(i) * time.Hour))
		wantCondition(t, next.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonCRDOutdated, "may lack fields", "Apply the Cleaner's manifest again")
		next.wantActive(time.Time{})
		next.wantNext(time.Time{})
	}
	b.wantNames("new")
	next.change(func(c *v1alpha1.Cleaner) { edited(old)(c) })
	next.step()
	wantCondition(t, next.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	next.wantActive(time.Time{})
	if records := next.records(); len(records) != 1 {
		t.Fatalf("there are %d runs", len(records))
	}
}

// TestCleanersThatWereEditedMeanwhile: the API server dropped fields of what was edited or created while it did not keep them.
// Nobody knows what the author wrote, so they do not act before another edit. What may only report, may report.
func TestCleanersThatWereEditedMeanwhile(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	turned := b.follow(b.cleaner(v1alpha1.ActionScan, edited(old)))
	for _, one := range []*life{l, turned} {
		one.step()
		wantCondition(t, one.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	}
	b.install(true, ofK8sCleaner(t)...)
	l.change(func(c *v1alpha1.Cleaner) { c.Spec.Schedule = "0 5 * * *" })
	turned.change(func(c *v1alpha1.Cleaner) { c.Spec.Action = ptr.To(v1alpha1.ActionDelete) })
	created := b.follow(b.cleaner(v1alpha1.ActionDelete))
	reports := b.follow(b.cleaner(v1alpha1.ActionScan))
	for _, one := range []*life{l, turned, created, reports} {
		one.step() // it is seen meanwhile
	}
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	reports.step()
	wantCondition(t, reports.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	for _, one := range []*life{l, turned, created} {
		one.step()
		one.staysOutdated()
	}
	b.wantNames("new")
	l.change(func(c *v1alpha1.Cleaner) { edited(old)(c) })
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
}

// TestCleanersThatWereThereBefore: those of k8s-cleaner go on when our CustomResourceDefinitions come after the operator, but not one that
// was edited while the operator waited for them.
func TestCleanersThatWereThereBefore(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	b.install(true, ofK8sCleaner(t)...)
	l, changed := b.follow(b.cleaner(v1alpha1.ActionDelete)), b.follow(b.cleaner(v1alpha1.ActionDelete))
	b.clock.SetTime(b.clock.Now().Add(3 * time.Minute))
	l.step()
	changed.step()
	changed.change(func(c *v1alpha1.Cleaner) {
		c.Spec.Schedule = "0 5 * * *"
		edited(old)(c) // the API server drops it
	})
	changed.step()
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	l.step()
	changed.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	changed.staysOutdated()
	b.wantNames("new")
}

// TestEditMeanwhileBeforeAnotherLeader: the operator that saw the API server drop fields is gone. The annotation of an older generation
// without a status says it all the same.
func TestEditMeanwhileBeforeAnotherLeader(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.step()
	b.install(true, ofK8sCleaner(t)...)
	l.change(func(c *v1alpha1.Cleaner) {
		c.Spec.Schedule = "0 5 * * *"
		edited(old)(c) // the API server drops it
	})
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	l.successor().staysOutdated()
	b.wantNames("new")
}

// TestCleanerCreatedBeforeTheCheckSeesTheSchema: which fields the API server keeps is asked once a second, and published late. What was
// read in between was not seen whole, although a write of its status looks so. What was seen long before was.
func TestCleanerCreatedBeforeTheCheckSeesTheSchema(t *testing.T) {
	for name, foreign := range map[string][]*apiextensionsv1.CustomResourceDefinition{"k8s-cleaner": ofK8sCleaner(t), "older": {older(t)}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.configMap("new")
			before := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
			before.step()
			b.install(true, foreign...)
			created := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old))) // the API server drops it
			check := b.reconciler.CheckSchema
			b.reconciler.CheckSchema = func(context.Context) (string, error) { return "", nil }
			_, err := b.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: created.now.Name}})
			t.Logf("%v", err)
			b.reconciler.CheckSchema = check
			for _, l := range []*life{before, created} {
				l.step()
			}
			b.install(false, crd(t, "cleaners"), crd(t, "reports"))
			for _, l := range []*life{before, created} {
				l.step()
			}
			wantCondition(t, before.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
			created.staysOutdated()
			b.wantNames("new")
		})
	}
}

// TestRequestOfALostStatusIsNotAnsweredTwice: the spec is whole, but not the status, which said that the request was answered. A
// suspended Cleaner would delete what nobody asked it to.
func TestRequestOfALostStatusIsNotAnsweredTwice(t *testing.T) {
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, func(c *v1alpha1.Cleaner) {
		c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "once"}
		c.Spec.ResourcePolicySet.ResourceSelectors[0].IncludeEvents = ptr.To(false) // the default there
	}))
	l.startExecutor()
	l.step()
	l.finish()
	b.configMap("new")
	b.install(true, ofK8sCleaner(t)...)
	l.change(func(c *v1alpha1.Cleaner) { c.Annotations["anything"] = "else" })
	b.install(false, crd(t, "cleaners"), crd(t, "reports"))
	for range 2 {
		l.step()
		wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
		l.wantActive(time.Time{})
		l.wantHandled("once")
	}
	b.wantNames("new")
	l.ask("again")
	l.step()
	l.finish()
	b.wantNames()
}

// TestCacheThatIsBehindTheSchema: ours are back, and the cache still has the Cleaner as it was shown before. Nothing was lost.
func TestCacheThatIsBehindTheSchema(t *testing.T) {
	for name, foreign := range map[string][]*apiextensionsv1.CustomResourceDefinition{"k8s-cleaner": ofK8sCleaner(t), "older": {older(t)}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old), func(c *v1alpha1.Cleaner) {
				c.Annotations = map[string]string{v1alpha1.RunRequestedAtAnnotation: "once"}
			}))
			l.startExecutor()
			l.step()
			l.finish()
			b.install(true, foreign...)
			behind := b.get(l.now.Name)
			b.install(false, crd(t, "cleaners"), crd(t, "reports"))
			before := b.requests.len()
			b.reconciler.Client = cached{b.live, fixed{behind}}
			for delay := 50 * time.Millisecond; delay < time.Second; delay *= 2 {
				l.step()
				l.wantRequeue(delay)
			}
			if writes := b.writes(before); len(writes) > 0 {
				t.Fatalf("it writes: %v", writes)
			}
			b.reconciler.Client = b.live
			l.step()
			wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
		})
	}
}

// TestCacheThatHasWhatTheSchemaLacks: the API server drops a field that the cache still has. A write would store the Cleaner without it.
func TestCacheThatHasWhatTheSchemaLacks(t *testing.T) {
	b := newBench(t)
	l := b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	full := b.get(l.now.Name)
	b.install(true, older(t))
	b.reconciler.Client = cached{b.live, fixed{full}}
	l.step()
	b.reconciler.Client = b.live
	b.install(false, crd(t, "cleaners"))
	l.step()
	wantCondition(t, l.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	if l.now.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds == nil {
		t.Fatal("the field is lost for good")
	}
}

// fixed is a cache that has one state of a Cleaner.
type fixed struct{ cleaner *v1alpha1.Cleaner }

func (s fixed) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.cleaner.DeepCopyInto(o.(*v1alpha1.Cleaner))
	return nil
}

func (fixed) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestOlderSchemaIsSaidInReady, where that can be written without a loss: the Cleaner has no field that the API server drops.
func TestOlderSchemaIsSaidInReady(t *testing.T) {
	b := newBench(t)
	plain, narrow := b.follow(b.cleaner(v1alpha1.ActionDelete)), b.follow(b.cleaner(v1alpha1.ActionDelete, edited(old)))
	plain.step()
	narrow.step()
	registry := prometheus.NewRegistry()
	sent := &recorder{}
	woken := map[string]int{}
	watcher := &controllers.SchemaWatcher{
		Client: b.live, Check: b.runner.Begin.CheckSchema, Metrics: metrics.New(registry), Events: sent, Clock: b.clock, Wake: func(name string) { woken[name]++ },
	}
	outdated := func(want float64) {
		t.Helper()
		b.clock.SetTime(b.clock.Now().Add(time.Second))
		watcher.Look(t.Context())
		families, err := registry.Gather()
		must(t, err)
		for _, family := range families {
			if family.GetName() == "kubecleaner_crds_outdated" && family.GetMetric()[0].GetGauge().GetValue() == want {
				return
			}
		}
		t.Fatalf("kubecleaner_crds_outdated is not %v: %v", want, families)
	}
	outdated(0)
	if len(sent.take()) != 0 || len(woken) != 0 {
		t.Fatal("it sends Events or wakes Cleaners for nothing")
	}
	b.install(true, older(t))
	for range 2 { // it reports once
		outdated(1)
	}
	events := sent.take()
	if len(events) != 2 || events[0].reason != v1alpha1.ReasonCRDOutdated || !strings.Contains(events[0].note, "lack fields of this version of KubeCleaner: Cleaner.spec.resourcePolicySet.resourceSelectors[].minAgeSeconds. The API server drops them") || woken[plain.now.Name] != 1 {
		t.Fatalf("the Events are %+v, and %v were woken", events, woken)
	}
	plain.step()
	narrow.step()
	wantCondition(t, plain.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonCRDOutdated, "[].minAgeSeconds", "Apply the CustomResourceDefinitions of this version")
	wantCondition(t, narrow.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled) // nothing was written
	before := b.requests.len()
	plain.step()
	if writes := b.writes(before); len(writes) > 0 {
		t.Fatalf("it writes again: %v", writes)
	}
	b.install(false, crd(t, "cleaners"))
	outdated(0)
	if len(sent.take()) != 0 || woken[plain.now.Name] != 2 {
		t.Fatalf("%v were woken", woken)
	}
	plain.step()
	narrow.step()
	wantCondition(t, plain.now, v1alpha1.ConditionReady, "True", v1alpha1.ReasonScheduled)
	if narrow.now.Spec.ResourcePolicySet.ResourceSelectors[0].MinAgeSeconds == nil {
		t.Fatal("the field is lost for good")
	}
}

// TestSchemaThatChangesDuringARun: the run read the Cleaner as it is, and yet nothing is touched when the API server keeps less of it
// by the time the run would write down what it is going to touch.
func TestSchemaThatChangesDuringARun(t *testing.T) {
	b := newBench(t)
	b.configMap("new")
	c := b.cleaner(v1alpha1.ActionDelete)
	replaced := false
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/configmaps") && !replaced {
			replaced = true
			b.install(true, older(t))
		}
		return nil, nil
	})
	wantRun(t, b.run(c), v1alpha1.ReasonCRDOutdated, "Nothing was touched: The CustomResourceDefinitions in the cluster lack fields")
	b.wantNames("new")
}

// TestRunThatWasCutOffIsNotResumedByALossySpec: the operator that takes it over finds a spec that is not the one that was judged by.
func TestRunThatWasCutOffIsNotResumedByALossySpec(t *testing.T) {
	l, next := cutOffRun(t, 2, http.MethodDelete, edited(func(s *v1alpha1.ResourceSelector) { s.MinAgeSeconds = ptr.To[int64](0) }))
	l.install(true, older(t))
	l.ask("what is it doing?")
	l.install(false, crd(t, "cleaners"))
	next.clock.SetTime(l.clock.Now())
	record := next.goOn(l.clock.Now().Add(time.Minute))
	wantRun(t, record, v1alpha1.ReasonFailed, "the run was not resumed: the Cleaner was changed, or acting was stopped or resumed", "0 deleted, 2 left alone.")
	wantCondition(t, next.now, v1alpha1.ConditionReady, "False", v1alpha1.ReasonCRDOutdated)
	l.wantNames("old-0", "old-1")
}

// TestRunOfASpecThatGotLost: the run that was asked for by the reconciler reads a spec that lost fields in the meantime, when the API
// server does not show yet that it keeps less.
func TestRunOfASpecThatGotLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("new")
	c := b.cleaner(v1alpha1.ActionDelete)
	request := func(stamp string) run.Request {
		b.clock.SetTime(b.clock.Now().Add(time.Second))
		return run.Request{Cleaner: c.Name, Nominal: b.clock.Now().Truncate(time.Second), Trigger: v1alpha1.TriggerSchedule, Spec: stamp}
	}
	b.wantNoRecord(request(v1alpha1.Stamp(c.Generation, "anotherhash")), "its spec may lack fields")
	b.wantNames("new")
	wantRun(t, b.carryOut(t.Context(), request(v1alpha1.Stamp(c.Generation+1, "anotherhash"))), v1alpha1.ReasonCompleted, "1 deleted") // it was edited
}

// TestUnreadableSchemaRunsNothing: nobody knows whether the API server keeps all fields.
func TestUnreadableSchemaRunsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.configMap("new")
	l := b.follow(b.cleaner(v1alpha1.ActionDelete))
	l.startExecutor()
	l.step()
	b.requests.setMeddle(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/openapi/") {
			return answer(r, http.StatusServiceUnavailable, nil), nil
		}
		return nil, nil
	})
	l.clock.SetTime(l.first())
	if _, err := l.reconciler.Reconcile(t.Context(), request(l.now.Name)); err == nil || !strings.Contains(err.Error(), "finding out whether the API server keeps all fields of Cleaners: ") {
		t.Fatalf("the error is %v", err)
	}
	b.wantNames("new")
	b.requests.setMeddle(nil)
	l.step()
	l.finish()
	l.wantRecords(l.first())
}
