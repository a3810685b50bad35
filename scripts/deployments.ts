// What the Helm chart and the cdk8s construct have of deploy/: the same objects, with places for values.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

const folder = "deploy";
const parking = "parking.yaml";
const detecting = "detect/admission.yaml";

/** What the controller does if it is asked to: the value and the folder, which is also the flag. One with a text takes that. */
interface Component {
  readonly value: string;
  readonly name: string;
  readonly files?: readonly string[];
  readonly hasText?: boolean;
  /** Namespaces in its files, how often each stands there, and whose they are. */
  readonly namespaces?: readonly (readonly [name: string, times: number, template: string])[];
}

const ownNamespace = ["nodeippool", 1, ".Release.Namespace"] as const;
const components: readonly Component[] = [
  { value: "fleet", name: "fleet", files: ["rbac.yaml", "admission.yaml"] },
  { value: "clusterApi", name: "cluster-api" },
  { value: "metal3", name: "metal3", hasText: true, namespaces: [ownNamespace, ["metal3", 2, ".Values.metal3"]] },
  {
    ...{ value: "nodeSlices", name: "node-slices", hasText: true },
    namespaces: [
      ["nodeippool", 2, ".Release.Namespace"],
      ["kube-system", 2, ".Values.nodeSlices"],
    ],
  },
  { value: "ipamClaims", name: "ipam-claims" },
  { value: "vmClaims", name: "vm-claims" },
  { value: "vmAddresses", name: "vm-addresses", files: ["rbac.yaml", "admission.yaml"] },
  { value: "workloadAddresses", name: "workload-addresses", files: ["rbac.yaml", "admission.yaml"] },
  { value: "freeTerminating", name: "free-terminating", hasText: true, files: [] },
  { value: "freeTerminatingAfter", name: "free-terminating-after", hasText: true, files: [] },
  { value: "lookEvery", name: "look-every", hasText: true, files: [] },
];

function filesOf({ name, files = ["rbac.yaml"] }: Component): string[] {
  return files.map((file) => `${name}/${file}`);
}

/** The words of the Deployment that switch it on. */
function argument({ value, name, hasText = false }: Component): string {
  const [verb, text] = hasText ? ["with", "={{ . }}"] : ["if", ""];
  return `{{ ${verb} .Values.${value} }}, --${name}${text}{{ end }}`;
}

/** The files that make up an installation, in order. The chart's release has a namespace of its own. */
function installed(): string[] {
  const { resources } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"));
  return resources;
}

/** A value of the chart: the text of a file, how often it stands there, and what is in its place in the template. */
type Place = readonly [file: string, text: string | RegExp, times: number, template: string];

/** A value of the chart, as a field of the pod or alone; nothing where it is empty. */
function valueAt(name: string, indent: number, isField = true): string {
  const field = isField ? `      ${name}:\n` : "";
  return `      {{- with .Values.${name} }}\n${field}        {{- toYaml . | nindent ${indent} }}\n      {{- end }}\n`;
}

/** What the chart lets users say of where the pod runs, and of its registry. */
const scheduled = [
  "      serviceAccountName: nodeippool-controller\n",
  ...["imagePullSecrets", "nodeSelector", "affinity"].map((name) => valueAt(name, 8)),
].join("");

const places: readonly Place[] = [
  ["rbac.yaml", "namespace: nodeippool\n", 5, "namespace: {{ .Release.Namespace }}\n"],
  ["controller.yaml", "namespace: nodeippool\n", 3, "namespace: {{ .Release.Namespace }}\n"],
  ...components.flatMap((one) =>
    (one.namespaces ?? [ownNamespace]).map(
      ([name, times, template]): Place => [
        `${one.name}/rbac.yaml`,
        `namespace: ${name}\n`,
        times,
        `namespace: {{ ${template} }}\n`,
      ],
    ),
  ),
  ["controller.yaml", "args: [controller]\n", 1, `args: [controller${components.map(argument).join("")}]\n`],
  ["controller.yaml", /image: nodeippool:.*\n/, 1, "image: {{ .Values.image }}\n"],
  ["controller.yaml", "replicas: 1\n", 1, "replicas: {{ .Values.replicas }}\n"],
  [
    "controller.yaml",
    /resources:\n(?: {12}.*\n)+/g,
    1,
    "resources:\n            {{- toYaml .Values.resources | nindent 12 }}\n",
  ],
  ["controller.yaml", "      serviceAccountName: nodeippool-controller\n", 1, scheduled],
  [
    "controller.yaml",
    / {4}metadata:\n {6}labels:\n {8}app.kubernetes.io\/name: nodeippool\n/,
    1,
    `    metadata:
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      labels:
        app.kubernetes.io/name: nodeippool
        {{- with .Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
`,
  ],
  ["controller.yaml", "      containers:\n", 1, `${valueAt("tolerations", 8, false)}      containers:\n`],
  [detecting, "'nodeippool-detect:0.1.0'", 1, "'{{ .Values.detect }}'"],
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
  [detecting]: ".Values.detect",
  ...Object.fromEntries(components.flatMap((one) => filesOf(one).map((file) => [file, `.Values.${one.value}`]))),
};

/** The templates of the chart, by path. */
export function chartTemplates(): Record<string, string> {
  const optional = [parking, detecting, ...components.flatMap(filesOf)];
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

/** What has pods look for conflicts. */
export const detectingObjects: readonly ApiObjectProps[] = ${objects([detecting])};

/** What each of the things needs that the controller serves if it is asked to: the flag, and objects. */
export const components = {
${components
  .map((one) => `  ${one.value}: { flag: "--${one.name}", objects: ${objects(filesOf(one))} as ApiObjectProps[] },`)
  .join("\n")}
};
`;
}
