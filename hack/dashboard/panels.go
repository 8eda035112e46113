// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// dashboard is the dashboard: runs, what they did, trouble, and the operator itself.
func dashboard() board {
	var l layout
	l.runs()
	l.deeds()
	l.trouble()
	l.operator()
	return board{
		Title: "KubeCleaner", UID: "kubecleaner", Tags: []string{"kubecleaner"},
		Description:   "What the Cleaners of a cluster do. The metrics are explained in docs/reference/metrics.md, the alerts in docs/how-to/runbooks.md.",
		SchemaVersion: 39, Editable: true, Refresh: "1m", Time: map[string]string{"from": "now-24h", "to": "now"},
		Annotations: annotations{List: []any{}},
		Templating: templating{List: []variable{
			{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1},
			{
				Name: "cleaner", Label: "Cleaner", Type: "query", Datasource: prometheus, Refresh: 2, Multi: true, IncludeAll: true, AllValue: ".*",
				Query: map[string]string{"query": "label_values(kubecleaner_next_run_timestamp_seconds, cleaner)", "refId": "cleaner"},
			},
		}},
		Panels: l.panels,
	}
}

// added is what a counter grew by. Most series begin with their first fact, at 1: increase does not see that first
// step, and the first failure of a Cleaner would not be in any graph. What a series counted that was not there before
// stands beside it.
func added(by, counter string) string {
	return fmt.Sprintf("sum by (%[1]s) ((%[2]s unless %[2]s offset $__rate_interval) or increase(%[2]s[$__rate_interval]))", by, counter)
}

func (l *layout) runs() {
	l.row("Runs")
	l.stat("Cleaners", "All that the leader knows.", `count(count by (cleaner) (kubecleaner_next_run_timestamp_seconds))`)
	l.stat("Not scheduled", "Suspended, not ready, or without a next time.", `count(max by (cleaner) (kubecleaner_next_run_timestamp_seconds) == 0) or vector(0)`)
	l.stat("Last run failed", "The condition RunSucceeded of the Cleaner says why.",
		`count(max by (cleaner) (kubecleaner_last_run_timestamp_seconds) > max by (cleaner) (kubecleaner_last_success_timestamp_seconds)) or vector(0)`)
	l.stat("Overdue", "By more than ten minutes.", `count(time() - (max by (cleaner) (kubecleaner_next_run_timestamp_seconds) > 0) > 600) or vector(0)`)
	l.graph("Runs", "By the reason they ended for.", "short",
		query{added("result", `kubecleaner_runs_total{cleaner=~"$cleaner"}`), "{{result}}"})
	l.graph("How long runs took", "", "s",
		query{"histogram_quantile(0.5, " + added("le", `kubecleaner_run_duration_seconds_bucket{cleaner=~"$cleaner"}`) + ")", "half of them"},
		query{"histogram_quantile(0.99, " + added("le", `kubecleaner_run_duration_seconds_bucket{cleaner=~"$cleaner"}`) + ")", "99 %"})
	l.graph("What takes the time", "In the phases of all runs.", "s",
		query{added("phase", `kubecleaner_run_phase_duration_seconds_sum`), "{{phase}}"})
	times := base("table", "When Cleaners run", "1970 means never.", "dateTimeAsIso", []query{
		{`max by (cleaner) (kubecleaner_next_run_timestamp_seconds{cleaner=~"$cleaner"}) * 1000`, ""},
		{`max by (cleaner) (kubecleaner_last_run_timestamp_seconds{cleaner=~"$cleaner"}) * 1000`, ""},
		{`max by (cleaner) (kubecleaner_last_success_timestamp_seconds{cleaner=~"$cleaner"}) * 1000`, ""},
	})
	times.Transformations = []transformation{
		{ID: "joinByField", Options: map[string]any{"byField": "cleaner", "mode": "outer"}},
		{ID: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{"Time 1": true, "Time 2": true, "Time 3": true},
			"renameByName": map[string]string{
				"cleaner": "Cleaner", "Value #A": "Next run", "Value #B": "Last run",
				"Value #C": "Last success",
			},
		}},
	}
	l.add(times, 12, 8)
}

func (l *layout) deeds() {
	l.row("What they did")
	l.graph("Objects", "By what became of them; docs/reference/outcomes.md explains the words.", "short",
		query{added("result", `kubecleaner_actions_total{cleaner=~"$cleaner"}`), "{{result}}"})
	l.graph("Deleted", "By kind.", "short",
		query{added("group, kind", `kubecleaner_actions_total{cleaner=~"$cleaner",result=~"Deleted|FoundGone|Terminating"}`), "{{kind}} {{group}}"})
	l.graph("Matched in the last run", "By Cleaner and kind.", "short",
		query{`max by (cleaner, group, kind) (kubecleaner_matched_resources{cleaner=~"$cleaner"})`, "{{cleaner}}: {{kind}} {{group}}"})
	l.graph("Looked at in the last run", "By Cleaner.", "short",
		query{`max by (cleaner) (kubecleaner_scanned_resources{cleaner=~"$cleaner"})`, "{{cleaner}}"})
}

func (l *layout) trouble() {
	l.row("Trouble")
	l.graph("Stopped by a guard", "Runs that touched nothing, because of a limit or because they could not read or judge everything.", "short",
		query{added("cleaner, reason", `kubecleaner_guardrail_aborts_total{cleaner=~"$cleaner"}`), "{{cleaner}}: {{reason}}"},
		query{added("cleaner", `kubecleaner_snapshot_errors_total{cleaner=~"$cleaner"}`), "{{cleaner}}: no copies"})
	l.graph("Expressions and scripts that fail", "", "short",
		query{
			added("cleaner, engine, reason", `kubecleaner_evaluation_errors_total{cleaner=~"$cleaner"}`),
			"{{cleaner}}: {{engine}} {{reason}}",
		})
	l.graph("Missed runs", "", "short",
		query{added("cleaner, reason", `kubecleaner_missed_runs_total{cleaner=~"$cleaner"}`), "{{cleaner}}: {{reason}}"})
	l.graph("Notifications", "Attempts, by channel and by how they ended.", "short",
		query{added("channel, result", `kubecleaner_notifications_total{cleaner=~"$cleaner"}`), "{{channel}} {{result}}"})
}

// Every replica of the operator has kubecleaner_build_info: by it, what is common to many programs is kept apart.
func (l *layout) operator() {
	l.row("Operator")
	l.stat("Replicas", "Those that Prometheus sees. One works, the others wait.",
		`count(kubecleaner_build_info) or vector(0)`)
	l.stat("Leaders", "It should be 1.", `sum(leader_election_master_status and on (instance) kubecleaner_build_info) or vector(0)`)
	l.stat("Copies kept", "kubectl cleaner restore brings them back.", `max(kubecleaner_snapshots)`)
	version := base("stat", "Version", "", "short",
		[]query{{`count by (version) (kubecleaner_build_info)`, "{{version}}"}})
	version.Options = map[string]any{
		"textMode": "name", "orientation": "auto",
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}},
	}
	l.add(version, 6, 4)
	l.graph("Copies", "How much they take, compressed. --max-copies-bytes bounds it.", "bytes", query{`max(kubecleaner_snapshot_bytes)`, "copies"})
	l.graph("Time in expressions and scripts", "In all runs.", "s",
		query{added("engine", `kubecleaner_evaluation_duration_seconds_sum`), "{{engine}}"})
	l.graph("Memory", "Of the manager; the processes that run scripts are beside it.", "bytes",
		query{`process_resident_memory_bytes and on (instance) kubecleaner_build_info`, "{{instance}}"})
	l.graph("Requests to the API server", "By the code of the answer.", "reqps",
		query{`sum by (code) (rate(rest_client_requests_total[$__rate_interval]) and on (instance) kubecleaner_build_info)`, "{{code}}"})
}
