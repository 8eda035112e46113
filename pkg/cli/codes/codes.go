// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

// Package codes has what stays the same when words change: the code of each message, and the codes with which the
// process exits.
package codes

import "slices"

// Code identifies a message: its words may change from version to version, its code does not. The first letter is the
// severity: E an error, W a warning, N a note.
type Code string

// The codes. Each one has a line in Table.
const (
	UsageWrong   Code = "E-USE-001"
	OutputFailed Code = "E-OUT-001"

	FileUnreadable Code = "E-FIL-001"
	FileNoCleaner  Code = "E-FIL-002"
	FileEmpty      Code = "E-FIL-003"

	YAMLSyntax    Code = "E-YML-001"
	YAMLDuplicate Code = "E-YML-002"
	YAMLBoolean   Code = "W-YML-001"

	KindWrong         Code = "E-CLN-001"
	FieldUnknown      Code = "E-CLN-002"
	FieldMissing      Code = "E-CLN-003"
	FieldType         Code = "E-CLN-004"
	FieldValue        Code = "E-CLN-005"
	FieldRule         Code = "E-CLN-006"
	KindMissing       Code = "E-CLN-007"
	FieldUnused       Code = "W-CLN-001"
	EverythingMatches Code = "W-CLN-002"
	HostNeedsFlag     Code = "W-CLN-003"
	Overlap           Code = "W-CLN-004"
	SameName          Code = "W-CLN-005"
	PodsStay          Code = "W-CLN-006"
	FoundAtOnce       Code = "W-CLN-007"
	ActionDefault     Code = "N-CLN-001"
	FieldDeprecated   Code = "N-CLN-002"
	FieldIgnored      Code = "N-CLN-003"

	ScheduleWrong    Code = "E-SCH-001"
	ScheduleDoubtful Code = "W-SCH-001"

	SelectorWrong Code = "E-SEL-001"
	SelectorScope Code = "E-SEL-002"

	LuaSyntax Code = "E-LUA-001"
	LuaBudget Code = "E-LUA-002"
	LuaChild  Code = "E-LUA-003"
	LuaResult Code = "E-LUA-004"
	LuaName   Code = "W-LUA-001"
	LuaReturn Code = "W-LUA-002"

	CELSyntax  Code = "E-CEL-001"
	CELMissing Code = "W-CEL-001"

	PatchWrong Code = "E-PAT-001"

	TestNothing Code = "E-TST-001"

	RecipeNotFound Code = "E-RCP-001"
	RecipeRefused  Code = "E-RCP-002"

	DumpWrong   Code = "E-DMP-001"
	DumpPartial Code = "E-DMP-002"

	SchemaWrong Code = "E-SMA-001"

	ClusterUnreachable Code = "E-CLU-001"
	CleanerNotFound    Code = "E-CLU-002"
	ClusterForbidden   Code = "E-CLU-003"
	KindUnknown        Code = "E-CLU-004"
	ClusterFailed      Code = "E-CLU-005"
	NamespaceNotFound  Code = "E-CLU-006"

	ReferencesWrong Code = "E-REF-001"

	ScanIncomplete Code = "E-SCN-001"

	WhyNotFound Code = "E-WHY-001"

	ViewIncomplete Code = "E-PRE-001"
	ObjectNotFound Code = "E-PRE-002"
	CleanerInvalid Code = "E-PRE-003"
	ChangeFailed   Code = "E-PRE-004"
	PreviewTimeout Code = "E-PRE-005"
	ObjectUnjudged Code = "E-PRE-006"

	RunNotReady     Code = "E-RUN-001"
	RunNotAnswered  Code = "E-RUN-002"
	RunNotBegun     Code = "E-RUN-003"
	RunFailed       Code = "E-RUN-004"
	RunTimeout      Code = "E-RUN-005"
	RunNotFound     Code = "E-RUN-006"
	RunUnreadable   Code = "E-RUN-007"
	RunNotConfirmed Code = "E-RUN-008"

	RestoreNothing      Code = "E-RST-001"
	RestoreUnreadable   Code = "E-RST-002"
	RestoreIncomplete   Code = "E-RST-003"
	RestoreNotConfirmed Code = "E-RST-004"

	PlanNotWaiting   Code = "E-APR-001"
	PlanNotConfirmed Code = "E-APR-002"
	DecisionNoEffect Code = "E-APR-003"

	NotificationNotFound Code = "E-NTF-001"

	OperatorNotFound Code = "E-STP-001"
	StopNotSeen      Code = "E-STP-002"

	PageMissing  Code = "E-PAG-001"
	PortUnusable Code = "E-PAG-002"
)

// Table says what each code means.
func Table() [][2]string { return slices.Concat(fileTable(), clusterTable(), importTable()) }

// fileTable has the codes of commands that read files and recipes.
func fileTable() [][2]string {
	return [][2]string{
		{string(UsageWrong), "a flag, a command or an argument is wrong or missing"},
		{string(OutputFailed), "the output cannot be written"},
		{string(FileUnreadable), "a file or directory cannot be read"},
		{string(FileNoCleaner), "there is no Cleaner in what was given"},
		{string(FileEmpty), "a file is empty"},
		{string(YAMLSyntax), "a document is not valid YAML or JSON"},
		{string(YAMLDuplicate), "a map has the same key twice"},
		{string(YAMLBoolean), "a word without quotes that YAML 1.1 reads as true or false"},
		{string(KindWrong), "the document is almost a Cleaner: its apiVersion or kind is wrong"},
		{string(FieldUnknown), "Cleaners have no such field"},
		{string(FieldMissing), "a required field is missing"},
		{string(FieldType), "a value is of the wrong type"},
		{string(FieldValue), "a value is not allowed"},
		{string(FieldRule), "fields contradict each other, or a rule of the CustomResourceDefinition is broken"},
		{string(KindMissing), "Kubernetes has no such kind in that group and version"},
		{string(FieldUnused), "a field has no effect in this Cleaner"},
		{string(EverythingMatches), "the Cleaner deletes or changes objects, and one of its selectors matches every object that it looks at"},
		{
			string(HostNeedsFlag),
			"metrics are read from a host that the operator refuses, unless its --allowed-metric-hosts names the host",
		},
		{string(Overlap), "two Cleaners can act on the same objects"},
		{string(SameName), "two Cleaners have the same name"},
		{string(PodsStay), "the Pods of what the Cleaner deletes stay"},
		{string(FoundAtOnce), "the Cleaner acts on objects that were created a moment ago and are not used yet"},
		{string(ActionDefault), "no action is set, so the Cleaner only reports"},
		{string(FieldDeprecated), "a field is in its old place; use the new one"},
		{string(FieldIgnored), "a field is accepted and does nothing"},
		{string(ScheduleWrong), "the schedule or the time zone cannot be read"},
		{string(ScheduleDoubtful), "the schedule is valid, but probably not what was meant"},
		{string(SelectorWrong), "a label selector cannot be read"},
		{string(SelectorScope), "a selector names namespaces, but its kind is cluster-scoped"},
		{string(LuaSyntax), "a script does not compile, or lacks its function"},
		{string(LuaBudget), "compiling a script took too much time or memory"},
		{string(LuaChild), "the process that runs scripts could not be started"},
		{string(LuaResult), "a script never sets the name from which its result is read"},
		{string(LuaName), "a script uses a name, or a field of finding, that does not exist"},
		{string(LuaReturn), "evaluate can return nothing, something that a run refuses, or something that never matches"},
		{string(CELSyntax), "a matchConditions expression does not compile, or does not fit the kind of the objects"},
		{string(CELMissing), "a matchConditions expression fails on objects that lack an optional field"},
		{string(PatchWrong), "the mergePatch cannot be applied"},
		{string(RecipeNotFound), "there is no recipe with that name, or for that word"},
		{string(RecipeRefused), "a recipe cannot do what a flag asks for"},
		{string(DumpWrong), "a manifest of --from is not an object, or contradicts another one"},
		{string(DumpPartial), "the manifests of --from hold no object of a kind that a Cleaner selects"},
		{string(SchemaWrong), "a file of --schemas has no schemas that can be read"},
	}
}

// clusterTable has the codes of commands that ask a cluster, and those that came later.
func clusterTable() [][2]string {
	return [][2]string{
		{string(ClusterUnreachable), "there is no cluster to ask, or it does not answer"},
		{string(CleanerNotFound), "the cluster has no Cleaner of that name, or no Cleaners at all"},
		{string(ClusterForbidden), "the cluster does not let you do that"},
		{string(KindUnknown), "a selector or an argument names a kind that the cluster does not have"},
		{string(ClusterFailed), "the cluster answered with an error"},
		{string(NamespaceNotFound), "the cluster has no such namespace"},
		{string(ReferencesWrong), "a declaration of references cannot be read"},
		{string(ScanIncomplete), "something could not be read, and so it is not known whether some objects are used"},
		{string(WhyNotFound), "the object does not exist, and no run that is on record deleted it"},
		{string(ViewIncomplete), "something could not be read or judged, and so a run would touch nothing"},
		{string(ObjectNotFound), "the object of --only does not exist, or no selector looks at its kind"},
		{string(CleanerInvalid), "the Cleaner cannot run in this cluster as it is"},
		{string(ChangeFailed), "the transform failed on some of the objects that match"},
		{string(PreviewTimeout), "the preview took longer than --timeout"},
		{string(ObjectUnjudged), "an object could not be judged, and a run would leave it alone (onPartialView: Skip)"},
		{string(RunNotReady), "the Cleaner cannot run as it is"},
		{string(RunNotAnswered), "the operator did not accept the request for a run"},
		{string(RunNotBegun), "the run that was asked for did not begin"},
		{string(RunFailed), "the run did not do all that it was asked to do"},
		{string(RunTimeout), "the run takes longer than --timeout"},
		{string(RunNotFound), "the cluster has no run of that name"},
		{string(RunUnreadable), "the objects or outcomes that a run stored outside of its record cannot be read"},
		{string(RunNotConfirmed), "nobody confirmed that the Cleaner may delete or change objects now"},
		{string(RestoreNothing), "the run left nothing that could be restored"},
		{string(RestoreUnreadable), "the copies of a run cannot be read, or are not what the run wrote"},
		{string(RestoreIncomplete), "something that the run touched was not restored to what it was before"},
		{string(RestoreNotConfirmed), "nobody confirmed the restore"},
		{string(PlanNotWaiting), "the run has no plan that waits for approval"},
		{string(PlanNotConfirmed), "nobody confirmed the approval or the rejection of the plan"},
		{string(DecisionNoEffect), "the operator did not accept the approval or rejection"},
		{string(NotificationNotFound), "the Cleaner has no such notification, or none that is sent to a service"},
		{string(OperatorNotFound), "it is not clear which namespace is the operator's"},
		{string(StopNotSeen), "no Cleaner says that the operator knows of the stop"},
		{string(PageMissing), "the program was built without the web page of kubectl cleaner dashboard"},
		{string(PortUnusable), "the port of the dashboard cannot be listened on"},
		{string(TestNothing), "there is nothing to test in a directory"},
	}
}
