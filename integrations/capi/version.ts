/** The versions of Cluster API's groups that are spoken. */
export const apiVersions = ["v1beta2", "v1beta1"] as const;

export type ApiVersion = (typeof apiVersions)[number];
