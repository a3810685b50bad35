import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, Chart, Testing } from "cdk8s";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { NodeIPPoolController, type NodeIPPoolControllerProps } from "../../../constructs/index.ts";
import { root } from "../../support/console.ts";

const read = (path: string) => readFileSync(join(root, "deploy", path), "utf8");
const documents = (path: string) => parseAllDocuments(read(path)).map((document) => document.toJS());

function made(props?: NodeIPPoolControllerProps): unknown[] {
  const chart = new Chart(new App(), "network", { namespace: "of-the-chart" });
  new NodeIPPoolController(chart, "controller", props);
  return Testing.synth(chart);
}

describe("NodeIPPoolController", () => {
  it("makes what deploy/ has, in that order", () => {
    const files: string[] = parse(read("kustomization.yaml")).resources;
    expect(made()).toEqual(files.flatMap(documents));
  });

  it("puts everything into another namespace", () => {
    const text = JSON.stringify(made({ namespace: "network" }));
    expect(text.match(/"namespace":"network"/g)).toHaveLength(8);
    expect(text).toContain('"kind":"Namespace","metadata":{"labels"');
    expect(text).not.toMatch(/"namespace":"(nodeippool|of-the-chart)"/);
  });

  it("changes nothing for the next one", () => {
    made({ namespace: "network", image: "other:1", replicas: 3, parkAtAdmission: true });
    expect(made()).toEqual(made({}));
    expect(JSON.stringify(made())).not.toMatch(/other:1|"replicas":3|MutatingAdmissionPolicy/);
  });

  it("parks at admission if asked", () => {
    expect(made({ parkAtAdmission: true }).slice(-2)).toEqual(documents("parking.yaml"));
  });
});
