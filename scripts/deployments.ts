// What the Helm chart and the cdk8s construct have of deploy/: the same objects, with places for values.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

const folder = "deploy";
const parking = "parking.yaml";
const clusterApi = "cluster-api/rbac.yaml";
const metal3 = "metal3/rbac.yaml";
const nodeSlices = "node-slices/rbac.yaml";
const ipamClaims = "ipam-claims/rbac.yaml";

/** The files that make up an installation, in order. The chart's release has a namespace of its own. */
function installed(): string[] {
  const { resources } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"));
  return resources;
}

/** A value of the chart: the text of a file, how often it stands there, and what is in its place in the template. */
type Place = readonly [file: string, text: string | RegExp, times: number, template: string];

const places: readonly Place[] = [
  ["rbac.yaml", "namespace: nodeippool\n", 5, "namespace: {{ .Release.Namespace }}\n"],
  ["controller.yaml", "namespace: nodeippool\n", 3, "namespace: {{ .Release.Namespace }}\n"],
  [clusterApi, "namespace: nodeippool\n", 1, "namespace: {{ .Release.Namespace }}\n"],
  [metal3, "namespace: nodeippool\n", 1, "namespace: {{ .Release.Namespace }}\n"],
  [metal3, "namespace: metal3\n", 2, "namespace: {{ .Values.metal3 }}\n"],
  [nodeSlices, "namespace: nodeippool\n", 2, "namespace: {{ .Release.Namespace }}\n"],
  [nodeSlices, "namespace: kube-system\n", 2, "namespace: {{ .Values.nodeSlices }}\n"],
  [ipamClaims, "namespace: nodeippool\n", 1, "namespace: {{ .Release.Namespace }}\n"],
  [
    "controller.yaml",
    "args: [controller]\n",
    1,
    "args: [controller{{ if .Values.clusterApi }}, --cluster-api{{ end }}{{ with .Values.metal3 }}, --metal3={{ . }}{{ end }}{{ with .Values.nodeSlices }}, --node-slices={{ . }}{{ end }}{{ if .Values.ipamClaims }}, --ipam-claims{{ end }}]\n",
  ],
  ["controller.yaml", /image: nodeippool:.*\n/, 1, "image: {{ .Values.image }}\n"],
  ["controller.yaml", "replicas: 1\n", 1, "replicas: {{ .Values.replicas }}\n"],
  [
    "controller.yaml",
    /resources:\n(?: {12}.*\n)+/g,
    1,
    "resources:\n            {{- toYaml .Values.resources | nindent 12 }}\n",
  ],
  [
    "crd/nodeippools.nmstate.io.yaml",
    "metadata:\n  name: nodeippools.nmstate.io\n",
    1,
    "metadata:\n  name: nodeippools.nmstate.io\n  annotations:\n    helm.sh/resource-policy: keep\n",
  ],
];

/** Files that a value of the chart switches on. */
const conditions: Readonly<Record<string, string>> = {
  "crd/nodeippools.nmstate.io.yaml": ".Values.crds.install",
  [parking]: ".Values.parkAtAdmission",
  [clusterApi]: ".Values.clusterApi",
  [metal3]: ".Values.metal3",
  [nodeSlices]: ".Values.nodeSlices",
  [ipamClaims]: ".Values.ipamClaims",
};

/** The templates of the chart, by path. */
export function chartTemplates(): Record<string, string> {
  const optional = [parking, clusterApi, metal3, nodeSlices, ipamClaims];
  const files = [...installed().filter((file) => file !== "namespace.yaml"), ...optional];
  return Object.fromEntries(
    files.map((file) => [join(folder, "chart/templates", file.replace("crd/", "").replace("/", "-")), template(file)]),
  );
}

function template(file: string): string {
  let text = readFileSync(join(folder, file), "utf8");
  if (text.includes("{{")) throw new Error(`Helm would read the braces in ${file}`);
  for (const [place, from, times, to] of places) {
    if (place !== file) continue;
    const parts = text.split(from);
    if (parts.length !== times + 1) throw new Error(`${file} has ${parts.length - 1} times ${from}, not ${times}`);
    text = parts.join(to);
  }
  const condition = conditions[file];
  const whole = condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
  return `# Generated from ${folder}/${file} by \`npm run generate\`; do not edit.\n${whole}`;
}

/** A module with all objects. */
export function controllerObjects(): string {
  const objects = (files: readonly string[]) =>
    JSON.stringify(
      files.flatMap((file) =>
        parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => document.toJS()),
      ),
      null,
      2,
    );
  return `// Generated from ${folder}/ by \`npm run generate\`; do not edit.
import type { ApiObjectProps } from "cdk8s";

/** What an installation is made of, in order. */
export const controllerObjects: readonly ApiObjectProps[] = ${objects(installed())};

/** What parks policies at admission. */
export const parkingObjects: readonly ApiObjectProps[] = ${objects([parking])};

/** The rights that Cluster API needs besides. */
export const clusterApiObjects: readonly ApiObjectProps[] = ${objects([clusterApi])};

/** The rights that bare-metal hosts need besides, in their namespace. */
export const metal3Objects: readonly ApiObjectProps[] = ${objects([metal3])};

/** The rights that node slices of whereabouts need besides, also in the namespace of its objects. */
export const nodeSlicesObjects: readonly ApiObjectProps[] = ${objects([nodeSlices])};

/** The rights that IPAMClaims need besides. */
export const ipamClaimsObjects: readonly ApiObjectProps[] = ${objects([ipamClaims])};
`;
}
