module github.com/kubecleaner/kubecleaner/test/servers

// A mail server and an S3 server for tests, which test/testenv/servers starts. A module of its own, so that what they need is
// never in the operator's go.mod. To bump: go get MODULE@VERSION && go mod tidy.

go 1.26.0

tool github.com/kubecleaner/kubecleaner/test/servers

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6
	github.com/emersion/go-smtp v0.25.1
	github.com/johannesboyne/gofakes3 v1.2.0
)

require (
	github.com/ryszard/goskiplist v0.0.0-20150312221310-2dfbae5fcf46 // indirect
	go.shabbyrobe.org/gocovmerge v0.0.0-20230507111327-fa4f82cfbf4d // indirect
	golang.org/x/tools v0.8.0 // indirect
)
