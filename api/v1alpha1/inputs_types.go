// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// MetricSource is the service that answers the metric queries of a selector: Prometheus, or a service with the same
// API.
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('http://') || self.url.startsWith('https://')",message="url must begin with http:// or https://, for example http://prometheus.monitoring.svc:9090"
type MetricSource struct {
	// url is the address of the source, for example "http://prometheus.monitoring.svc:9090". Its host is a Service of the
	// cluster (NAME.NAMESPACE.svc), or one that the operator's flag --allowed-metric-hosts names. For a Cleaner that names
	// a ServiceAccount, the Service must be in the namespace of the Secret or, without one, of the ServiceAccount.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	URL string `json:"url"`

	// path is the path of its API for instant queries, below url. Default "api/v1/query".
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Path string `json:"path,omitempty"`

	// secretRef names the Secret with the credentials: its key token is sent as a Bearer token or, without that key,
	// username and password are. The Secret must be in the namespace of the Service, unless the operator's flag
	// --allowed-metric-hosts names the host.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}

// SecretRef names a Secret.
type SecretRef struct {
	// namespace is the namespace of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`

	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// MetricQuery is a query whose result scripts and conditions see.
type MetricQuery struct {
	// name is the key of the result in the global metrics of the script, and in the variable metrics of matchConditions.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// query is an instant query in PromQL whose result is a number, or one series: "sum(rate(requests_total[1h]))".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Query string `json:"query"`
}

// LogSource is which logs of a Pod are read.
type LogSource struct {
	// containers are the names of the containers whose logs are read. Empty means all but init containers. A Pod that has
	// none of them does not match.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Containers []string `json:"containers,omitempty"`

	// tailLines is how many of the last lines of each container are read. If these lines are longer than 64 KiB together,
	// fewer are read. Default 50.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TailLines *int64 `json:"tailLines,omitempty"`

	// previous also reads the logs of each container's earlier instance, if it has restarted. Default false.
	// +optional
	Previous *bool `json:"previous,omitempty"`
}
