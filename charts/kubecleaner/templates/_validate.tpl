{{- /* What the schema cannot say: values that contradict each other. */}}
{{- define "kubecleaner.validate" -}}
{{- $name := include "kubecleaner.fullname" . }}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) }}
{{- fail (printf "%s is no name for a Service: choose a release name of lowercase letters, digits and '-' that begins with a letter, or set fullnameOverride" $name) }}
{{- end }}
{{- $mode := .Values.rbac.mode }}
{{- if and (eq $mode "scoped") (not .Values.rbac.rules) }}
{{- fail "rbac.rules is empty: with rbac.mode scoped, list there what Cleaners may touch" }}
{{- end }}
{{- if and .Values.rbac.rules (not (has $mode (list "scoped" "namespaces"))) }}
{{- fail (printf "rbac.rules has no effect with rbac.mode %s: set rbac.mode to scoped or namespaces, or remove the rules" $mode) }}
{{- end }}
{{- if and (eq $mode "namespaces") (not .Values.rbac.namespaces) }}
{{- fail "rbac.namespaces is empty: with rbac.mode namespaces, list there the namespaces that Cleaners may touch" }}
{{- end }}
{{- if and .Values.rbac.namespaces (ne $mode "namespaces") }}
{{- fail (printf "rbac.namespaces has no effect with rbac.mode %s: set rbac.mode to namespaces, or remove the list" $mode) }}
{{- end }}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
{{- fail "serviceAccount.name is empty: with serviceAccount.create false, name the ServiceAccount of the operator" }}
{{- end }}
{{- range $value := list "commonLabels" "podLabels" }}
{{- range $label := list "app.kubernetes.io/name" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart" }}
{{- if hasKey (get $.Values $value) $label }}
{{- fail (printf "%s has %s, which the chart sets itself: remove it" $value $label) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
{{- fail "metrics.serviceMonitor and metrics.podMonitor are both enabled: Prometheus would count everything twice. Enable one of them" }}
{{- end }}
{{- if and .Values.metrics.podMonitor.enabled (not .Values.metrics.podMonitor.tokenSecret.name) }}
{{- fail "metrics.podMonitor.tokenSecret.name is empty: name a Secret with a token that may read the metrics, or use metrics.serviceMonitor" }}
{{- end }}
{{- if and (ne .Values.copies.path "/copies") (not .Values.copies.existingClaim) }}
{{- fail "copies.path has no effect without copies.existingClaim: name there the PersistentVolumeClaim for copies" }}
{{- end }}
{{- if regexMatch "^/(diagnostics-cert|manager|script-runner|dev|proc|sys)(/|$)" .Values.copies.path }}
{{- fail (printf "copies.path is %s, where the container has something else: choose another directory" .Values.copies.path) }}
{{- end }}
{{- with .Values.dashboard }}
{{- if and .enabled .insecureBehindProxy .networkPolicy.enabled (not .networkPolicy.from) }}
{{- fail "dashboard.insecureBehindProxy serves tokens without TLS: list the Pods of the proxy in dashboard.networkPolicy.from, so that nobody else reaches the dashboard" }}
{{- end }}
{{- if and .insecureBehindProxy .tls.secretName }}
{{- fail "dashboard.tls.secretName has no effect with dashboard.insecureBehindProxy: remove one of them" }}
{{- end }}
{{- if and (has "*" .hosts) (gt (len .hosts) 1) }}
{{- fail "dashboard.hosts has \"*\", which means any name: remove it, or the other names" }}
{{- end }}
{{- end }}
{{- if lt (include "kubecleaner.bytes" .Values.scriptMemory | int64) 402653184 }}
{{- fail (printf "scriptMemory is %v: it must be at least 384Mi" .Values.scriptMemory) }}
{{- end }}
{{- range .Values.extraArgs }}
{{- $flag := regexReplaceAll "=.*$" . "" | replace "_" "-" | trimAll "-" }}
{{- with get (dict "max-script-memory" "scriptMemory" "copies-path" "copies.existingClaim" "s3-secret" "copies.s3Secret" "dashboard-url" "dashboard.url" "diagnostics-cert-dir" "metrics.certSecret") $flag }}
{{- fail (printf "extraArgs has --%s: set the value %s instead" $flag .) }}
{{- end }}
{{- if or (eq $flag "health-addr") (and (eq $flag "diagnostics-address") (not (hasSuffix "=0" .))) }}
{{- fail (printf "extraArgs has --%s: the probes, Services and monitors of the chart use the default port. Remove the flag" $flag) }}
{{- end }}
{{- if and (eq $flag "leader-elect") (gt (int $.Values.replicas) 1) }}
{{- fail "extraArgs has --leader-elect: more than one replica needs leader election, which is on by default. Remove the flag" }}
{{- end }}
{{- end }}
{{- range .Values.extraEnv }}
{{- if has .name (list "NAMESPACE" "GOMEMLIMIT") }}
{{- fail (printf "extraEnv has %s, which the chart sets itself: remove it" .name) }}
{{- end }}
{{- end }}
{{- end }}
