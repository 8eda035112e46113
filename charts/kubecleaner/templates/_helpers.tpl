{{- define "kubecleaner.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* The prefix of all names: the release's name, with the chart's unless it is in there. */}}
{{- define "kubecleaner.fullname" -}}
{{- $name := include "kubecleaner.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "kubecleaner.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (printf "%s-manager" (include "kubecleaner.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* The manager's Pods. Without the release's name: one operator serves a cluster, and the labels are those of config/manager. */}}
{{- define "kubecleaner.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kubecleaner.name" . | quote }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "kubecleaner.dashboardLabels" -}}
app.kubernetes.io/name: {{ include "kubecleaner.name" . | quote }}
app.kubernetes.io/component: dashboard
{{- end }}

{{- define "kubecleaner.labels" -}}
app.kubernetes.io/name: {{ include "kubecleaner.name" . | quote }}
app.kubernetes.io/part-of: kubecleaner
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "kubecleaner.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "kubecleaner.certSecret" -}}
{{- default (printf "%s-metrics-cert" (include "kubecleaner.fullname" .)) .Values.metrics.certSecret }}
{{- end }}

{{- /* The value of the flag .name in .args, which counts for the manager: the last one. Empty without the flag. */}}
{{- define "kubecleaner.flag" -}}
{{- $name := .name }}
{{- $value := "" }}
{{- range .args }}
{{- if eq $name (regexReplaceAll "=.*$" . "" | replace "_" "-" | trimAll "-") }}
{{- $value = regexReplaceAll "^[^=]*=?" . "" }}
{{- end }}
{{- end }}
{{- $value }}
{{- end }}

{{- /* Says true if an old and a new Pod must not be there together: one of them could not mount the volume, or nothing keeps one from working. */}}
{{- define "kubecleaner.oneAtATime" -}}
{{- $elect := include "kubecleaner.flag" (dict "name" "leader-elect" "args" .Values.extraArgs) }}
{{- if and (le (int .Values.replicas) 1) (or .Values.copies.existingClaim (regexMatch "^(0|f|F|false|False|FALSE)$" $elect)) }}
{{- true }}
{{- end }}
{{- end }}

{{- /* Security of a container by the restricted Pod security standard. */}}
{{- define "kubecleaner.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ["ALL"]
{{- end }}

{{- /* An amount of memory in bytes. The argument is a quantity such as 1280Mi, 1.5Gi or 1000000000. */}}
{{- define "kubecleaner.bytes" -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- if kindIs "string" . }}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get $units (regexFind "[A-Za-z]*$" .)) | int64 }}
{{- else }}
{{- int64 . }}
{{- end }}
{{- end }}

{{- /* The address of the page, to which notifications link. Empty when nobody can open it by one. */}}
{{- define "kubecleaner.dashboardURL" -}}
{{- with .Values.dashboard }}
{{- $host := first .hosts }}
{{- if .url }}
{{- .url }}
{{- else if and .enabled (not (has $host (list "localhost" "*"))) }}
{{- printf "https://%s" (ternary (printf "[%s]" $host) $host (contains ":" $host)) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* GOMEMLIMIT of the page. Empty without a limit. */}}
{{- define "kubecleaner.dashboardGoMemLimit" -}}
{{- $limit := dig "limits" "memory" "" .Values.dashboard.resources }}
{{- if $limit }}
{{- $own := sub (include "kubecleaner.bytes" $limit | int64) 385875968 }}
{{- if lt $own 134217728 }}
{{- fail (printf "dashboard.resources.limits.memory is %v: it must be at least 496Mi" $limit) }}
{{- end }}
{{- printf "%dMiB" (div (mul $own 9) 10485760) }}
{{- end }}
{{- end }}

{{- /* GOMEMLIMIT: 90 % of the memory limit without that of the processes that run scripts. Empty without a limit. */}}
{{- define "kubecleaner.goMemLimit" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources }}
{{- if $limit }}
{{- $own := sub (include "kubecleaner.bytes" $limit | int64) (include "kubecleaner.bytes" .Values.scriptMemory | int64) }}
{{- $selection := include "kubecleaner.flag" (dict "name" "max-selection-memory" "args" .Values.extraArgs) | default "256Mi" }}
{{- if not (regexMatch "^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$" $selection) }}
{{- fail (printf "extraArgs has --max-selection-memory=%s: write an amount of memory such as 512Mi" $selection) }}
{{- end }}
{{- $min := add (include "kubecleaner.bytes" $selection | int64) 268435456 }}
{{- if lt $own $min }}
{{- fail (printf "resources.limits.memory is %v: it must be at least %dMi more than scriptMemory (%v): %s for --max-selection-memory, and 256Mi for the operator" $limit (div (add $min 1048575) 1048576) .Values.scriptMemory $selection) }}
{{- end }}
{{- printf "%dMiB" (div (mul $own 9) 10485760) }}
{{- end }}
{{- end }}
