/** The versions of Cluster API, and of Metal3's provider for it, that objects are read and written in. */
export type ClusterApiVersion = "v1beta2" | "v1beta1";

/** Says of an object to which cluster it belongs. */
export const clusterNameLabel = "cluster.x-k8s.io/cluster-name";
