/** What the file with the configuration of hosts is called, in a folder and in its ConfigMap. */
export const infraFile = "infra.yaml";
