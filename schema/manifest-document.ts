import type { Issue, Pool } from "../core/index.ts";
import type { ClusterNode } from "./node.ts";
import type { Bag, LocatedObject } from "./objects.ts";
import type { NodeRow } from "./read-nodes.ts";
import type { Path, QuotedLine, YamlDocument } from "./yaml.ts";

/** A kind of object that an integration reads. */
export interface ReadKind {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** The name in API paths. */
  readonly plural: string;
  /**
   * Returns whether rendering replaces an object. It is then read strictly; all other objects pass byte for byte. In a cluster: whether
   * the object asks for addresses, and the controller reports on it.
   */
  owns(object: Bag): boolean;
  /** A cluster can run such an object unrendered, even if it takes addresses from pools. Others are refused where nothing renders them. */
  readonly runsAsIs?: boolean;
  /** The kind only describes objects of other kinds, and asks for no address by itself. */
  readonly isBeside?: boolean;
  /** What the text of an object that is replaced has in it, also where it cannot be read. */
  readonly mark: RegExp;
  /** For documents that say no kind, and are of this one if they have a field: what makes YAML of their text, line by line. A folder has one of them. */
  readonly nameless?: { readonly field: string; quote(text: string): string };
}

/** An object that rendering replaces, and where it stands. */
export interface SourceObject extends LocatedObject {
  /** The nodes that it is for; absent where the nodes of all are meant. */
  readonly nodes?: readonly ClusterNode[];
  /** Why it cannot be read as it stands in its file, each with its place; absent where it can. */
  readonly issues?: readonly Issue[];
}

/** One document of a folder of manifests, in its place; what `readManifests` gives. */
export type ManifestDocument =
  | (Located & { readonly kind: "pool"; readonly pool: Pool })
  | (Located & { readonly kind: "owned"; readonly source: SourceObject })
  | {
      readonly kind: "node";
      readonly file: string;
      /** @internal */
      readonly row: NodeRow;
    }
  /** Everything else, byte for byte, and the objects in it that integrations look at. */
  | {
      readonly kind: "foreign";
      readonly file: string;
      readonly text: string;
      /** @internal */
      readonly objects: readonly LocatedObject[];
    };

interface Located {
  readonly file: string;
  /** @internal */
  readonly yaml: YamlDocument;
  /**
   * Where in the document the object is: the top, or an item of a List.
   * @internal
   */
  readonly path: Path;
}

/** A document of kinds of other programs that cannot be read: it passes as it is. */
export interface UnreadDocument {
  readonly issues: readonly Issue[];
  /** The kinds of the objects that it may hold. */
  readonly kinds: readonly string[];
  /** It has a label or annotation with our prefix in it. */
  readonly asks: boolean;
}

/** A folder of manifests, read. */
export interface Manifests {
  readonly documents: readonly ManifestDocument[];
  readonly pools: readonly Pool[];
  /** The objects that rendering replaces. */
  readonly owned: readonly SourceObject[];
  /** The objects that integrations look at, and that pass as they are. */
  readonly others: readonly LocatedObject[];
  /** What was read otherwise than it is written, in order. */
  readonly quoted: readonly QuotedLine[];
  /** Documents of other programs that cannot be read. */
  readonly unread: readonly UnreadDocument[];
  /** What is wrong with them, each with its place. */
  readonly issues: readonly Issue[];
  /** The nodes among the manifests, if any. */
  readonly nodes: readonly ClusterNode[];
}
