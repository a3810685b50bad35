// Modules that are downloaded and never built: tests read the CRDs in them.
module nodeippool.invalid/tools/crds

go 1.26

require (
	github.com/k8snetworkplumbingwg/ipamclaims v0.5.1-alpha
	github.com/k8snetworkplumbingwg/network-attachment-definition-client v1.7.7
	github.com/nmstate/kubernetes-nmstate v0.86.0
	sigs.k8s.io/cluster-api v1.14.2
)
