import { IpamError } from "../../core/index.ts";
import { type Access, type KubeObject, type Objects, objectsOf } from "../../kube/index.ts";
import { asBag } from "../../schema/objects.ts";

const reviews = { apiVersion: "authentication.k8s.io/v1", plural: "selfsubjectreviews" };
const policies = { apiVersion: "admissionregistration.k8s.io/v1", plural: "validatingadmissionpolicies" };
const protection = "nodeippool-protection";
/** As deploy/protection.yaml has it. */
const ownAccount = /^system:serviceaccount:[^:]+:nodeippool-controller$/;

/**
 * Throws IpamError `invalid` if the controller runs as a user whom deploy/protection.yaml refuses every change of a node's policy. A server
 * that does not answer, or does not say who the user is, is no reason not to start.
 */
export async function checkAccount(access: Access): Promise<void> {
  const objects = objectsOf(access, { budget: 0 });
  const user = await userOf(objects).catch(() => undefined);
  const isOther = user !== undefined && !ownAccount.test(user);
  const policy = isOther ? await objects.get(policies, protection).catch(() => undefined) : undefined;
  objects.close();
  if (policy === undefined) return;
  throw new IpamError(
    "invalid",
    `the controller runs as ${user}, but ValidatingAdmissionPolicy ${protection} lets only the ServiceAccount nodeippool-controller change the policies of nodes`,
    {
      hint: "Run it in the cluster, or with a kubeconfig whose user has a token of `kubectl create token nodeippool-controller -n nodeippool`.",
    },
  );
}

async function userOf(objects: Objects): Promise<string | undefined> {
  const asked = { apiVersion: reviews.apiVersion, kind: "SelfSubjectReview", metadata: {} };
  const { status } = (await objects.create(reviews, asked as KubeObject)) as KubeObject & { readonly status?: unknown };
  const { username } = asBag(asBag(status)?.userInfo) ?? {};
  return typeof username === "string" ? username : undefined;
}
