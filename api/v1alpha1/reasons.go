// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Names that users, scripts and other tools rely on.
const (
	// RunRequestedAtAnnotation on a Cleaner asks for a run now. Any new value does; by custom it is the time of asking in
	// RFC 3339, which lets a request that was restored from a backup be distinguished from a new one.
	RunRequestedAtAnnotation = "apps.projectsveltos.io/run-requested-at"
	// ObservedSpecAnnotation on a Cleaner that deletes or changes objects says which spec the operator saw last, and of
	// which UID. It lasts when a CustomResourceDefinition that is not ours drops the status together with fields of the
	// spec.
	ObservedSpecAnnotation = "apps.projectsveltos.io/observed-spec"
	// CancelRunAnnotation on a Cleaner names a run of that Cleaner. The run ends before its next object, or does not
	// begin.
	CancelRunAnnotation = "apps.projectsveltos.io/cancel-run"
	// ProtectAnnotation on an object or its namespace keeps every Cleaner from touching it, unless its value is "false".
	// People write "true".
	ProtectAnnotation = "cleaner/protect"
	// StopAnnotation on the operator's own namespace stops all acting before the next object: every Cleaner acts as Scan
	// for as long as it is there. Its value, which may be empty, is the reason.
	StopAnnotation = "cleaner/stop"
	// RestoredFromAnnotation on an object that was brought back holds the UID of the CleanerRun that had deleted it. As
	// long as it is there, no Cleaner touches the object: removing it confirms that one may.
	RestoredFromAnnotation = "apps.projectsveltos.io/restored-from"
	// RunLabel on a part of what a run writes down holds the UID of its CleanerRun, and PartLabel which part it is:
	// intent, outcomes, copies or, where copies of Secrets are apart from the others, secrets; or bundle, which holds the
	// first part of each.
	RunLabel  = "apps.projectsveltos.io/run-uid"
	PartLabel = "apps.projectsveltos.io/run-part"
	// PartSecretType is the type of the Secrets that are such parts.
	PartSecretType = "apps.projectsveltos.io/cleaner-run-part"
	// CopiesLabel on the first part of a run's copies holds the UID of the Cleaner.
	CopiesLabel = "apps.projectsveltos.io/copies-for-cleaner"
	// CleanerLabel on a CleanerRun holds the UID of its Cleaner.
	CleanerLabel = "apps.projectsveltos.io/cleaner-uid"
	// Finalizer stands on Cleaners that k8s-cleaner managed. It is removed when such a Cleaner is deleted.
	Finalizer = "projectsveltos.io/cleaner-finalizer"
	// LegacyFinalizer is an older name of Finalizer. It is removed wherever it is seen.
	LegacyFinalizer = "cleanerfinalizer.projectsveltos.io"
)

// Types of the conditions of a Cleaner.
const (
	// ConditionReady is true when the Cleaner runs on its schedule, or is suspended and would run.
	ConditionReady = "Ready"
	// ConditionStalled is true beside a Ready that is false when nothing but an edit by a person fixes the Cleaner, as
	// kstatus defines it. It is absent otherwise, so that a GitOps tool waits for what is still to come, such as a
	// CustomResourceDefinition.
	ConditionStalled = "Stalled"
	// ConditionRunSucceeded is true when the last run did all it was asked to do, and Unknown while a run is going on.
	ConditionRunSucceeded = "RunSucceeded"
	// ConditionNotificationsDelivered is true when every notification of the last run was delivered.
	ConditionNotificationsDelivered = "NotificationsDelivered"
)

// Reasons of the condition Ready.
const (
	ReasonScheduled = "Scheduled"
	// ReasonSuspended is a reason for which Ready is true: a suspended Cleaner is as its manifest wants it.
	ReasonSuspended         = "Suspended"
	ReasonInvalidSchedule   = "InvalidSchedule"
	ReasonInvalidExpression = "InvalidExpression"
	ReasonUnknownKind       = "UnknownKind"
	// ReasonInvalidStorage says that copies cannot be kept where the Cleaner wants them.
	ReasonInvalidStorage = "InvalidStorage"
	// ReasonServiceAccountRequired says that the operator runs with --require-service-account, and the Cleaner names none.
	// It is a reason of RunSucceeded too, of a run that was due before the operator knew.
	ReasonServiceAccountRequired = "ServiceAccountRequired"
	// ReasonServiceAccountForbidden says that the operator may not act as the ServiceAccount that the Cleaner names.
	// Nothing runs until it may.
	ReasonServiceAccountForbidden = "ServiceAccountForbidden"
	// ReasonCRDOutdated says that the API server does not keep all fields of Cleaners, because the
	// CustomResourceDefinitions are not those of the operator, or that this Cleaner lost fields while that was so. Nothing
	// runs. It is a reason of RunSucceeded too.
	ReasonCRDOutdated = "CRDOutdated"
	// ReasonForeignController says that another controller, such as k8s-cleaner, wrote the Cleaner's status and may still
	// act on the same objects. Nothing runs until it is gone. It is a reason of RunSucceeded too.
	ReasonForeignController = "ForeignController"
	// ReasonBudgetExhausted says that the Cleaner's scripts used up their time or memory in several runs in a row. It runs
	// again when its spec changes, or when it is asked to.
	ReasonBudgetExhausted = "BudgetExhausted"
)

// Reasons of the condition RunSucceeded, and of a CleanerRun.
const (
	// ReasonRunning says that a run is going on.
	ReasonRunning = "Running"
	// ReasonRecordNotWritten says that a run could not begin, because its CleanerRun could not be written. Nothing was
	// touched. It is tried again.
	ReasonRecordNotWritten = "RecordNotWritten"
	// ReasonCompleted says that the run did all it was asked to do.
	ReasonCompleted = "Completed"
	// ReasonPartiallyFailed says that some objects could not be judged, deleted or changed.
	ReasonPartiallyFailed = "PartiallyFailed"
	// ReasonLimitExceeded says that more objects matched than blastRadiusLimit or the operator's --max-actions-per-run
	// allows. Nothing was touched.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonViewIncomplete says that the cluster could not be read, or an object not be judged. Nothing was touched.
	ReasonViewIncomplete = "ViewIncomplete"
	// ReasonForbidden says that the API server refused something for want of rights.
	ReasonForbidden = "Forbidden"
	// ReasonDeadlineExceeded says that activeDeadlineSeconds passed before the run had come to its end.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonActingStopped says that the run had not come to its end when all acting was stopped (StopAnnotation).
	ReasonActingStopped = "ActingStopped"
	// ReasonCancelled says that somebody cancelled the run (CancelRunAnnotation) before it had come to its end.
	ReasonCancelled = "Cancelled"
	// ReasonAwaitingApproval says that the run left a plan, which waits for a person. Nothing was touched.
	ReasonAwaitingApproval = "AwaitingApproval"
	// ReasonApproved says that the run's plan was approved: another run carries it out.
	ReasonApproved = "Approved"
	// ReasonRejected says that the run's plan was rejected. Nothing was touched.
	ReasonRejected = "Rejected"
	// ReasonExpired says that nobody approved the run's plan in time. Nothing was touched.
	ReasonExpired = "Expired"
	// ReasonSuperseded says that the run's plan was replaced by a newer one, or that the Cleaner was edited. Nothing was
	// touched.
	ReasonSuperseded = "Superseded"
	// ReasonPlanNotApproved says that a run was to carry out a plan for which there is no approval, or not this one; or
	// that what a person said of the run's plan does not count.
	// Nothing was touched.
	ReasonPlanNotApproved = "PlanNotApproved"
	// ReasonFailed says that the run ended for another cause.
	ReasonFailed = "Failed"
)

// Reasons of the condition NotificationsDelivered.
const (
	ReasonDelivered   = "Delivered"
	ReasonUndelivered = "Undelivered"
	// ReasonDelivering says that some notification is still to be sent, for the first time or again.
	ReasonDelivering = "Delivering"
)
