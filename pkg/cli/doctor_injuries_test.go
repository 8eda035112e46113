// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecleaner/kubecleaner/api/v1alpha1"
	"github.com/kubecleaner/kubecleaner/pkg/cli/codes"
	"github.com/kubecleaner/kubecleaner/pkg/cli/terminal"
)

// injury is one way in which an installation can be broken. injure returns how to mend it.
type injury struct {
	name    string
	injure  func() (mend func())
	line    string
	says    string
	code    int
	options func(*terminal.Options)
}

func (c *clinic) brokenOperators() []injury {
	arg := func(args ...string) func() func() {
		return func() func() {
			c.deployment.Spec.Template.Spec.Containers[0].Args = args
			c.update()
			return func() { c.deployment.Spec.Template.Spec.Containers[0].Args = nil; c.update() }
		}
	}
	unlike := func() func() { // neither the labels nor the image are those of the operator
		image := &c.deployment.Spec.Template.Spec.Containers[0].Image
		labels, before := c.deployment.Labels, *image
		c.deployment.Labels, *image = nil, "other"
		c.update()
		return func() {
			c.deployment.Labels, c.deployment.Spec.Template.Spec.Containers[0].Image = labels, before
			c.update()
		}
	}
	second := func(image string, args ...string) func() func() {
		return func() func() {
			d := c.other("tidy", image, 1)
			d.Spec.Template.Spec.Containers[0].Args = args
			return c.make(d)
		}
	}
	several := "there are several operators, which act on the same Cleaners: " + c.namespace + "/kubecleaner-manager, " + c.namespace + "/tidy"
	lease := func(change func(*coordinationv1.Lease)) func() func() {
		return func() func() {
			must(c.T, c.Get(c.Context(), client.ObjectKeyFromObject(c.lease), c.lease))
			before := c.lease.Spec.DeepCopy()
			change(c.lease)
			c.lease.Annotations = map[string]string{"stays": "yes"}
			must(c.T, c.Update(c.Context(), c.lease))
			return func() {
				c.lease.Spec, c.lease.Annotations = *before, nil
				must(c.T, c.Update(c.Context(), c.lease))
			}
		}
	}
	stale := lease(func(l *coordinationv1.Lease) {
		l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-10 * time.Minute)))
	})
	none := func() func() {
		c.deployment.Spec.Replicas = ptr.To[int32](0)
		c.update()
		return func() { c.deployment.Spec.Replicas = ptr.To[int32](1); c.update() }
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
	annotate := func(value string) {
		patch := `{"metadata":{"annotations":{"` + v1alpha1.StopAnnotation + `":` + value + `}}}`
		must(c.T, c.Patch(c.Context(), namespace, client.RawPatch(types.MergePatchType, []byte(patch))))
	}
	return []injury{
		{"no account", func() func() {
			must(c.T, c.Delete(c.Context(), c.account()))
			return func() { must(c.T, c.Create(c.Context(), c.account())) }
		}, "FAIL operator-rights: ServiceAccount/" + c.namespace + "/kubecleaner-manager", "the operator's ServiceAccount does not exist", codes.ExitError, nil},
		{"two operators, by the image", second("mirror:5000/kubecleaner/manager:v1"), "FAIL operators", several, codes.ExitError, nil},
		{"two operators, by a flag", second("tidy", "--leader-elect", "--max-script-memory=1Gi"), "FAIL operators", several, codes.ExitError, nil},
		{"no operator", unlike, "FAIL operator", "there is no Deployment of the operator", codes.ExitError, nil},
		{"no Pod", func() func() {
			c.available(0)
			return func() { c.available(1) }
		}, "FAIL operator: Deployment/" + c.namespace, "no Pod of it is available (exceeded quota: compute), but pod-1_0123 holds the lease: another operator runs Cleaners", codes.ExitError, nil},
		{"no Pod, and no leader", func() func() {
			c.available(0)
			well := stale()
			return func() { well(); c.available(1) }
		}, "FAIL operator: Deployment/" + c.namespace, "no Pod of it is available (exceeded quota: compute): no Cleaner runs", codes.ExitError, nil},
		{"scaled to 0", func() func() {
			mend := none()
			well := stale()
			return func() { well(); mend() }
		}, "FAIL operator", "it has 0 replicas: no Cleaner runs", codes.ExitError, nil},
		{
			"outside of the cluster", none, "WARN operator: Deployment/" + c.namespace,
			"it has 0 replicas, but pod-1_0123 holds the lease: another operator runs Cleaners, or this one is shutting down", codes.ExitPartial, nil,
		},
		{"a stale Lease", stale, "FAIL leader: Lease/" + c.namespace, "pod-1_0123 has not renewed it for ", codes.ExitError, nil},
		{"a new operator", func() func() {
			well := lease(func(l *coordinationv1.Lease) {
				l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-2 * time.Minute)))
			})()
			c.deployment.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
			}}
			must(c.T, c.Status().Update(c.Context(), c.deployment))
			return func() { c.available(1); well() }
		}, "WARN leader: Lease/" + c.namespace, "the operator has just started, and takes over from pod-1", codes.ExitPartial, nil},
		{"nobody leads", lease(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = ptr.To("") }), "FAIL leader", "there is no leader", codes.ExitError, nil},
		{"the operator's clock", lease(func(l *coordinationv1.Lease) {
			l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(10 * time.Minute)))
		}), "FAIL clock", "ahead of that of the API server", codes.ExitError, nil},
		{"this clock", func() func() { return func() {} }, "WARN clock", "the clock of this machine is ", codes.ExitPartial, func(o *terminal.Options) {
			o.Now = func() time.Time { return time.Now().Add(-time.Hour) }
		}},
		{"another version", func() func() { return func() {} }, "WARN versions", "plugin v1.3.0, operator v1.2.3", codes.ExitPartial, func(o *terminal.Options) { o.Version = "v1.3.0" }},
		{"stopped", func() func() {
			annotate(`"incident 7"`)
			return func() { annotate("null") }
		}, "WARN stop: Namespace/" + c.namespace, "all acting is stopped (incident 7)", codes.ExitPartial, nil},
		{"--dry-run", arg("--dry-run"), "WARN stop", "runs with --dry-run", codes.ExitPartial, nil},
		{"k8s-cleaner", func() func() {
			return c.make(c.other("k8s-cleaner", "docker.io/projectsveltos/k8s-cleaner:v0.19.0", 1))
		}, "FAIL k8s-cleaner: Deployment/" + c.namespace + "/k8s-cleaner", "both act on the same Cleaners", codes.ExitError, nil},
		{"k8s-cleaner, sleeping", func() func() {
			return c.make(c.other("k8s-cleaner", "mirror:5000/k8s-cleaner@sha256:"+strings.Repeat("0", 64), 0))
		}, "WARN k8s-cleaner", "is scaled to 0", codes.ExitPartial, nil},
		{"k8s-cleaner, by its account", func() func() {
			d := c.other("tidy", "mirror:5000/tidy", 1)
			d.Spec.Template.Spec.ServiceAccountName = "k8s-cleaner-controller"
			return c.make(d)
		}, "FAIL k8s-cleaner: Deployment/" + c.namespace + "/tidy", "both act on the same Cleaners", codes.ExitError, nil},
		{"the operator's rights", func() func() {
			c.deployment.Spec.Template.Spec.ServiceAccountName = "poor"
			c.update()
			return func() { c.deployment.Spec.Template.Spec.ServiceAccountName = "kubecleaner-manager"; c.update() }
		}, "FAIL operator-rights: ServiceAccount/" + c.namespace + "/poor", "the operator may not get cleaners.apps.projectsveltos.io in all namespaces", codes.ExitError, nil},
	}
}

// other is a Deployment that is not the operator's.
func (c *clinic) other(name, image string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
	d.Spec.Replicas, d.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: image}}
	return d
}

func (c *clinic) brokenCleaners() []injury {
	edit := func(change func(*v1alpha1.CleanerSpec)) func() func() {
		return func() func() {
			before := c.patient.Spec.DeepCopy()
			c.edit(change)
			return func() { c.edit(func(s *v1alpha1.CleanerSpec) { *s = *before }) }
		}
	}
	status := func(change func(*v1alpha1.CleanerStatus)) func() func() {
		return func() func() {
			before := c.patient.Status.DeepCopy()
			c.status(change)
			return func() { c.status(func(s *v1alpha1.CleanerStatus) { *s = *before }) }
		}
	}
	condition := func(typ, reason, message string) func() func() {
		return status(func(s *v1alpha1.CleanerStatus) {
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: typ, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: c.patient.Generation})
		})
	}
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-d)) }
	slack := v1alpha1.Notification{Name: "chat", Type: v1alpha1.NotificationSlack, NotificationRef: &v1alpha1.NotificationRef{Namespace: c.namespace, Name: "slack"}}
	me := ": Cleaner/unused-" + c.namespace
	account := &v1alpha1.ServiceAccountRef{Namespace: c.namespace, Name: "cleaner"}
	return []injury{
		{"not ready", condition(v1alpha1.ConditionReady, v1alpha1.ReasonInvalidExpression, "selector 0 is wrong"), "FAIL cleaners" + me, "it does not run: InvalidExpression: selector 0 is wrong", codes.ExitError, nil},
		{"no action", edit(func(s *v1alpha1.CleanerSpec) { s.Action = nil }), "WARN cleaners" + me, "no action is set: it only reports", codes.ExitPartial, nil},
		{"a failed run", condition(v1alpha1.ConditionRunSucceeded, v1alpha1.ReasonLimitExceeded, "too many"), "WARN runs" + me, "its last run did not succeed: LimitExceeded: too many", codes.ExitPartial, nil},
		{"a stuck run", status(func(s *v1alpha1.CleanerStatus) {
			s.ActiveRun = &v1alpha1.ActiveRun{Name: "tidy-1", NominalTime: ago(2 * time.Hour), Trigger: v1alpha1.TriggerSchedule}
		}), "FAIL runs" + me, "its run tidy-1 is stuck", codes.ExitError, nil},
		{"an overdue run", status(func(s *v1alpha1.CleanerStatus) { s.NextScheduleTime = ptr.To(ago(time.Hour)) }), "FAIL runs" + me, "its run is overdue", codes.ExitError, nil},
		{"never", edit(func(s *v1alpha1.CleanerSpec) { s.Schedule = "0 0 31 2 *" }), "FAIL schedules" + me, "", codes.ExitError, nil},
		{"too often", edit(func(s *v1alpha1.CleanerSpec) { s.Schedule = "* * * * *" }), "WARN schedules" + me, "fires 60 times in an hour", codes.ExitPartial, nil},
		{"no Secret", edit(func(s *v1alpha1.CleanerSpec) { s.Notifications = []v1alpha1.Notification{slack} }), "FAIL channels" + me, "notification chat: there is no Secret " + c.namespace + "/slack", codes.ExitError, nil},
		{"a Secret without its keys", func() func() {
			remove := c.make(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "slack"}})
			mend := edit(func(s *v1alpha1.CleanerSpec) { s.Notifications = []v1alpha1.Notification{slack} })()
			return func() { mend(); remove() }
		}, "FAIL channels" + me, "SLACK_TOKEN is missing", codes.ExitError, nil},
		{
			"no rights", edit(func(s *v1alpha1.CleanerSpec) { s.ServiceAccountRef = account }), "FAIL rights" + me,
			"ServiceAccount " + account.String() + " may not list configmaps in namespace " + c.namespace + ", delete configmaps in namespace " + c.namespace, codes.ExitError, nil,
		},
		{
			"an account that is gone", edit(func(s *v1alpha1.CleanerSpec) { s.ServiceAccountRef = account }), "WARN rights" + me,
			"ServiceAccount " + account.String() + " does not exist, and the Cleaner still acts: RBAC grants rights to the name", codes.ExitError, nil,
		},
		{
			"suspended, and its account is gone", edit(func(s *v1alpha1.CleanerSpec) { s.ServiceAccountRef, s.Suspend = account, ptr.To(true) }), "WARN rights" + me,
			"it is suspended, so it does not act now; but: ServiceAccount " + account.String() + " does not exist", codes.ExitError, nil,
		},
		{
			"suspended, without rights", edit(func(s *v1alpha1.CleanerSpec) { s.ServiceAccountRef, s.Suspend = account, ptr.To(true) }), "WARN rights" + me,
			"it is suspended, so it does not act now; but: ServiceAccount " + account.String() + " may not list configmaps", codes.ExitError, nil,
		},
		{
			"an account without the policy", edit(func(s *v1alpha1.CleanerSpec) { s.ServiceAccountRef = account }), "FAIL policies" + me,
			"the ValidatingAdmissionPolicy kubecleaner-service-account or its binding is missing", codes.ExitError, nil,
		},
		{
			"approval without the policy", edit(func(s *v1alpha1.CleanerSpec) { s.Approval = &v1alpha1.Approval{Mode: v1alpha1.ApprovalRequired} }), "FAIL policies" + me,
			"the ValidatingAdmissionPolicy kubecleaner-approval or its binding is missing: no approval is accepted", codes.ExitError, nil,
		},
		{"no copies", edit(func(s *v1alpha1.CleanerSpec) { s.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageNone} }), "WARN copies" + me, "it keeps no copies", codes.ExitPartial, nil},
		{"no bucket", edit(func(s *v1alpha1.CleanerSpec) { s.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageS3} }), "FAIL copies" + me, "the operator has no --s3-secret", codes.ExitError, nil},
		{"no volume", func() func() {
			c.deployment.Spec.Template.Spec.Containers[0].Args = []string{"--copies-path", "/copies"}
			c.update()
			mend := edit(func(s *v1alpha1.CleanerSpec) { s.Rollback = &v1alpha1.Rollback{Storage: v1alpha1.StorageVolume} })()
			return func() { mend(); c.deployment.Spec.Template.Spec.Containers[0].Args = nil; c.update() }
		}, "FAIL copies: Deployment/", "no volume is mounted at --copies-path /copies", codes.ExitError, nil},
		{"a foreign controller", func() func() {
			must(c.T, c.Get(c.Context(), client.ObjectKeyFromObject(c.patient), c.patient))
			c.patient.Status.Schedule = "other"
			must(c.T, c.Status().Update(c.Context(), c.patient, client.FieldOwner("manager")))
			return func() {
				must(c.T, c.Delete(c.Context(), c.patient))
				c.patient = c.cleaner()
				c.says(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonScheduled, "")
			}
		}, "FAIL k8s-cleaner" + me, `k8s-cleaner (field manager "manager")`, codes.ExitError, nil},
		{"no room for ConfigMaps", func() func() { return c.quota("configmaps") }, "FAIL copies: ResourceQuota/" + c.namespace + "/few", "it is used up: 2 of 2 (configmaps)", codes.ExitError, nil},
		{"no room for Secrets", func() func() { return c.quota("count/secrets") }, "FAIL copies: ResourceQuota/" + c.namespace + "/few", "it is used up: 2 of 2 (count/secrets). A run that cannot write its copies or counts touches nothing", codes.ExitError, nil},
		{"full", func() func() {
			c.configMap("one", nil)
			run := c.past(c.patient, "one")
			run.Status.Copies.Bytes = 300 << 20
			must(c.T, c.Status().Update(c.Context(), run))
			return func() { must(c.T, c.Delete(c.Context(), run)) }
		}, "WARN copies", "copies take 300Mi of 256Mi", codes.ExitPartial, nil},
	}
}

func (c *clinic) brokenSurroundings() []injury {
	hook := func(service, group, resource string, operation admissionv1.OperationType) func() func() {
		return func() func() {
			v := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "hook-" + c.namespace}}
			v.Webhooks = []admissionv1.ValidatingWebhook{{
				Name: "hook.example.com", SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: c.namespace, Name: service}},
				Rules: []admissionv1.RuleWithOperations{{
					Operations: []admissionv1.OperationType{operation}, Rule: admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
				}},
			}}
			return c.make(v)
		}
	}
	return []injury{
		{
			"a webhook without its Service", hook("gone", "apps.projectsveltos.io", "cleanerruns", admissionv1.Create),
			"FAIL webhooks: ValidatingWebhookConfiguration/hook-" + c.namespace, "which does not exist: what the operator does for itself (create cleanerruns) is refused", codes.ExitError, nil,
		},
		{"a webhook without Pods", func() func() {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "hook"}}
			service.Spec.Selector, service.Spec.Ports = map[string]string{"app": "hook"}, []corev1.ServicePort{{Port: 443}}
			remove := c.make(service)
			mend := hook("hook", "", "configmaps", admissionv1.Delete)()
			return func() { mend(); remove() }
		}, "FAIL webhooks", "which has no Pod that is ready: what the operator does for itself (delete configmaps), what Cleaner unused-" + c.namespace + " does (delete configmaps) is refused", codes.ExitError, nil},
	}
}

// quota leaves no room for more of a resource in the operator's namespace.
func (c *clinic) quota(name corev1.ResourceName) (mend func()) {
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "few"}}
	quota.Spec.Hard = corev1.ResourceList{name: resource.MustParse("2")}
	remove := c.make(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
	must(c.T, c.Status().Update(c.Context(), quota))
	return remove
}
