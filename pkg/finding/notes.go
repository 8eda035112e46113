// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecleaner/kubecleaner/pkg/graph"
	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// notes are what is kept of objects for the rows of other kinds. What rows leave out counts here all the same:
// exceptions are for findings.
type notes struct {
	// endpoints are the Services that have endpoints, by namespace and name: true where one is ready.
	endpoints map[[2]string]bool
	// scaled are workloads that something scales to zero and up again, and asleep are namespaces whose workloads sleep by
	// a calendar.
	scaled map[graph.Name]bool
	asleep map[string]bool
	// meshed are namespaces whose Services other clusters may serve.
	meshed map[string]bool
	// commanded are words in commands of CronJobs that scale something, and byHand CronJobs from which somebody made a
	// Job.
	commanded map[string]bool
	byHand    map[graph.Name]bool
	// queued are Jobs that have a Workload of Kueue, which suspends and resumes them.
	queued map[graph.Name]bool
	// waited are words in commands that wait for a Job, and "label=value" in those that wait for Jobs or Pods, by
	// namespace.
	waited map[[2]string]bool
	// awaited are volumes that a claim asks for by their names, and does not have, or that a template of claims asks for.
	awaited map[string]bool
	// retained are claims whose volumes stay when they are deleted.
	retained map[graph.Name]bool
	// snapshotters are the names of the classes of snapshots, by their drivers.
	snapshotters map[string]map[string]bool
	// faulty are Deployments of which a Pod does not run, and why.
	faulty map[graph.Name]string
	// held are what those Pods of Deployments request whose containers wait, by the names of the Pods.
	held map[graph.Name]map[string]Requests
	// busy are Nodes that run more than the Pods of DaemonSets and the Node's own.
	busy map[string]bool
	// inhabited are namespaces that hold something, and kinds those that have an object.
	inhabited map[string]bool
	// namedIn says which object of another namespace names a namespace.
	namedIn map[string]string
	kinds   map[schema.GroupKind]bool
	// bytes is what grows with what people write into their objects.
	bytes int64
}

func newNotes() notes {
	return notes{
		endpoints: map[[2]string]bool{}, scaled: map[graph.Name]bool{}, asleep: map[string]bool{},
		commanded: map[string]bool{}, byHand: map[graph.Name]bool{}, awaited: map[string]bool{},
		faulty: map[graph.Name]string{}, held: map[graph.Name]map[string]Requests{}, busy: map[string]bool{},
		queued: map[graph.Name]bool{}, meshed: map[string]bool{}, waited: map[[2]string]bool{},
		inhabited: map[string]bool{}, kinds: map[schema.GroupKind]bool{}, retained: map[graph.Name]bool{},
		snapshotters: map[string]map[string]bool{}, namedIn: map[string]string{},
	}
}

// scalers are kinds that scale workloads to zero, and up again when they are needed.
var scalers = []schema.GroupKind{autoscalers, scaledObjects, sleepInfos, rollouts, canaries}

var (
	scaledObjects = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
	rollouts      = schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}
	canaries      = schema.GroupKind{Group: "flagger.app", Kind: "Canary"}
	sleepInfos    = schema.GroupKind{Group: "kube-green.com", Kind: "SleepInfo"}
	workloads     = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}
)

// noteOf says what is kept of the objects of a kind, when a row reads them.
var noteOf = map[schema.GroupKind]func(*notes, *object.Parts){
	autoscalers:         (*notes).autoscaler,
	scaledObjects:       (*notes).scaledObject,
	sleepInfos:          func(n *notes, o *object.Parts) { n.asleep[o.Namespace] = true },
	rollouts:            (*notes).rollout,
	canaries:            func(n *notes, o *object.Parts) { n.scaled[targetOf(o, o.At("spec", "targetRef"))] = true },
	namespaces:          (*notes).mesh,
	cronJobs:            (*notes).commands,
	jobs:                (*notes).madeByHand,
	workloads:           (*notes).queue,
	claims:              (*notes).claim,
	volumes:             (*notes).volume,
	statefulSets:        (*notes).claimTemplates,
	services:            (*notes).service,
	endpointSlices:      (*notes).endpointSlice,
	roleBindings:        (*notes).subjects,
	clusterRoleBindings: (*notes).subjects,
	networkPolicies:     (*notes).peers,
	pods:                func(n *notes, o *object.Parts) { n.runs(o); n.fault(o) },
}

// notedByMetadata are the kinds of which the metadata is enough.
var notedByMetadata = []schema.GroupKind{sleepInfos, jobs, namespaces, workloads}

func (n *notes) autoscaler(o *object.Parts) {
	if o.At("spec", "minReplicas").String() == "0" {
		n.scaled[targetOf(o, o.At("spec", "scaleTargetRef"))] = true
	}
}

// scaledObject takes note of what KEDA scales: to zero, unless it says otherwise, or holds there while it is paused.
func (n *notes) scaledObject(o *object.Parts) {
	spec := o.At("spec")
	if paused := annotation(o, kedaPaused); paused != "" && paused != "false" || annotation(o, kedaPausedAt) != "" {
		n.scaled[targetOf(o, spec.Field("scaleTargetRef"))] = true
		return
	}
	if least := spec.Field("minReplicaCount").String(); least != "" && least != "0" &&
		spec.Field("idleReplicaCount").String() != "0" {
		return
	}
	n.scaled[targetOf(o, spec.Field("scaleTargetRef"))] = true
}

// The annotations by which KEDA stops to scale: as it is, and with so many replicas.
const (
	kedaPaused   = "autoscaling.keda.sh/paused"
	kedaPausedAt = "autoscaling.keda.sh/paused-replicas"
)

// rollout takes note of the Deployment whose template it takes, and which is at zero for that.
func (n *notes) rollout(o *object.Parts) {
	if reference := o.At("spec", "workloadRef"); reference.Field("name").Text() != "" {
		n.scaled[targetOf(o, reference)] = true
	}
}

// targetOf is the workload that something scales: a Deployment, unless it says otherwise.
func targetOf(o *object.Parts, reference object.JSON) graph.Name {
	kind := deployments
	if named := reference.Field("kind").Text(); named != "" {
		gv, _ := schema.ParseGroupVersion(reference.Field("apiVersion").Text())
		kind = schema.GroupKind{Group: gv.Group, Kind: named}
		if reference.Field("apiVersion").Text() == "" {
			kind.Group = deployments.Group
		}
	}
	return graph.Name{GroupKind: kind, Namespace: o.Namespace, Name: reference.Field("name").Text()}
}

// hasEndpoint reports whether a Service has an endpoint, ready or not.
func (n *notes) hasEndpoint(namespace, service string) bool {
	_, has := n.endpoints[[2]string{namespace, service}]
	return has
}

// service takes note of a Service that is a name for something outside of the cluster. It has no EndpointSlice, and
// that answers all the same.
func (n *notes) service(o *object.Parts) {
	if o.At("spec", "type").Text() == "ExternalName" {
		n.endpoints[[2]string{strings.Clone(o.Namespace), strings.Clone(o.Name)}] = true
	}
}

// endpointSlice takes note of one of the slices of a Service: another may be empty.
func (n *notes) endpointSlice(o *object.Parts) {
	service := [2]string{o.Namespace, label(o, "kubernetes.io/service-name")}
	for endpoint := range o.At("endpoints").Elements() {
		if n.endpoints[service] = n.endpoints[service] ||
			endpoint.At("conditions", "ready").String() != "false"; n.endpoints[service] {
			return
		}
	}
}

// manyRestarts is how often a container may restart. Those of years add up.
const manyRestarts = 100

// fault takes note of a Deployment of which a Pod does not run.
func (n *notes) fault(o *object.Parts) {
	for _, container := range containersOf(o.At("status")) {
		waits := container.At("state", "waiting", "reason").Text()
		restarts, _ := strconv.Atoi(container.Field("restartCount").String())
		isFaulty := slices.Contains(faults, waits)
		if !isFaulty && restarts < manyRestarts {
			continue
		}
		name := container.Field("name").Text()
		switch deployment, ok := deploymentOf(o); {
		case !ok:
			return
		case isFaulty:
			n.faulty[deployment] = fmt.Sprintf("container %s of Pod %s waits: %s", name, o.Name, whyWaits(container))
			n.hold(deployment, o)
		case n.faulty[deployment] == "":
			n.faulty[deployment] = fmt.Sprintf("container %s of Pod %s restarted %d times", name, o.Name, restarts)
		}
	}
}

// deploymentOf is the Deployment of a Pod, by the name of its ReplicaSet.
func deploymentOf(o *object.Parts) (graph.Name, bool) {
	owner, _ := graph.Controller(o)
	hash := label(o, "pod-template-hash")
	name, ok := strings.CutSuffix(owner.Name, "-"+hash)
	return graph.Name{GroupKind: deployments, Namespace: o.Namespace, Name: name}, ok && hash != "" &&
		owner.GroupKind == replicaSets
}

// runs takes note of a Node that runs more than what runs on each.
func (n *notes) runs(o *object.Parts) {
	node := o.At("spec", "nodeName").Text()
	if node == "" || n.busy[node] || hasEnded(o) {
		return
	}
	owner, owned := graph.Controller(o)
	if !owned || owner.GroupKind != daemonSets && owner.GroupKind != nodes {
		n.busy[node] = true
	}
}

// hasEnded reports whether a Pod runs no more.
func hasEnded(pod *object.Parts) bool {
	phase := corev1.PodPhase(pod.At("status", "phase").Text())
	return slices.Contains([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}, phase)
}

// count takes note that there is an object of the kind, and in the namespace. What each namespace has does not count.
// What is never unused counts all the same: an add-on that somebody put into the namespace is in use.
func (f *Finder) count(o *object.Parts) {
	f.kinds[o.Kind.GroupKind()] = true
	if inhabits(o.Kind) && !f.inhabited[o.Namespace] && !f.isInEach(o) && label(o, "olm.copiedFrom") == "" {
		f.inhabited[o.Namespace] = true
	}
}

// isInEach reports whether each namespace has such an object.
func (f *Finder) isInEach(o *object.Parts) bool {
	switch o.Kind.GroupKind() {
	case accounts:
		if o.Name == "builder" || o.Name == "deployer" { // OpenShift makes them; elsewhere somebody else did
			_, openShift := f.served[schema.GroupKind{Group: "project.openshift.io", Kind: "Project"}]
			return openShift
		}
		return o.Name == "default" && !hasIdentity(o)
	case configMaps:
		return slices.Contains([]string{"kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"}, o.Name)
	}
	return o.Kind.Group == rbacv1.GroupName && o.KeptByKubernetes() != ""
}
