/** The versions of Cluster API's groups that are spoken. */
export type ApiVersion = "v1beta2" | "v1beta1";
