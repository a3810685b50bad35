// Generated from deploy/crd by `npm run generate`; do not edit.

/**
 * A pool of IP addresses for the network interfaces of cluster nodes.
 */
export interface NodeIPPool {
  apiVersion: "nmstate.io/v1";
  kind: "NodeIPPool";
  metadata: {};
  /**
   * What the pool holds and who may allocate from it.
   */
  spec: {
    /**
     * The addresses of the pool.
     */
    range: {
      /**
       * The subnet, for example 10.10.10.0/24. Its length is the prefix length of every address.
       */
      cidr: string;
      /**
       * First address, offset 0. Default is the first address of cidr that a host may have.
       */
      start?: string;
      /**
       * Last address. It may grow. Default is the last address of cidr that a host may have.
       */
      end?: string;
      /**
       * Addresses and prefixes that are never allocated. They keep their offsets.
       *
       * @maxItems 512
       */
      exclude?: string[];
    };
    /**
     * More ranges of the same cidr.
     *
     * @maxItems 64
     */
    additionalRanges?: {
      /**
       * First address.
       */
      start: string;
      /**
       * Last address.
       */
      end: string;
    }[];
    /**
     * The router of the subnet. It is never allocated, and a policy may use it as capture.NAME.gateway.
     */
    gateway?: string;
    /**
     * DNS servers of the subnet. They are never allocated, but to an owner for whom they are reserved.
     *
     * @maxItems 16
     */
    dnsServers?: string[];
    /**
     * The layer 2 network or VRF in which addresses are unique. Pools of one network must not overlap. Default is "default".
     */
    network?: string;
    /**
     * Addresses kept for an owner, or, without an owner, kept away from everybody.
     *
     * @maxItems 4096
     */
    reservations?: {
      /**
       * The address that is kept.
       */
      address: string;
      /**
       * Kind/name or Kind/namespace:name, for example Node/node05.
       */
      owner?: string;
      /**
       * Name of the owner's claim, where the owner has several claims on this pool; for a policy it is POLICY/CAPTURE.
       */
      claim?: string;
      /**
       * For people.
       */
      description?: string;
    }[];
    /**
     * Who allocates. Plan means tools that plan (lockfile, stack); the controller only audits. Cluster means the controller alone. In a cluster the default is Cluster; tools that plan write Plan.
     */
    authority?: "Plan" | "Cluster";
    /**
     * The part of a Plan pool that only the controller hands out, for nodes that join later.
     */
    clusterRange?: {
      /**
       * First address.
       */
      start: string;
      /**
       * Last address.
       */
      end: string;
    };
    /**
     * What becomes of the addresses of owners that vanished. Delete frees them once they are off the node; Retain keeps them for the owner's return. Default is Delete.
     */
    reclaimPolicy?: "Delete" | "Retain";
    /**
     * For at least so long the controller keeps an address that nobody claims any more before another owner may get it. Default is 25.
     */
    addressReuseGracePeriodSeconds?: number;
    /**
     * IPv4 only. Also allocate addresses whose last octet is 0 or 255. They then have offsets.
     */
    allowZeroAnd255?: boolean;
    /**
     * The prefix length of what an owner gets, for example 24. Default is one address. Blocks that overlap an exclude or a reservation are not allocated.
     */
    blockLength?: number;
    /**
     * Which free address a new owner gets. Lowest is the lowest one. With Hashed the name of the first new owner chooses it and those that come with it follow, so that two branches seldom choose the same. With Next it is the next free one after the one that was allocated last, so that one that was given back is not allocated again soon. Who has an address keeps it. Default is Lowest.
     */
    allocationOrder?: "Lowest" | "Hashed" | "Next";
    /**
     * Whether the pool gives nothing new, but addresses that are reserved for their owner or asked for by name. Who has an address keeps it.
     */
    disable?: boolean;
    /**
     * Whether the pool serves pods that name no pool, where neither their namespace nor their network does.
     */
    default?: boolean;
    /**
     * What pods with addresses of the pool look for before they start, where deploy/detect is installed. Conflict means that another host answers for such an address, Gateway that the gateway does not answer.
     *
     * @maxItems 2
     */
    detect?: ("Conflict" | "Gateway")[];
    /**
     * Nodes that reach the addresses of the pool. Pods with one of them run there. It counts before nodeAffinity.
     *
     * @maxItems 5000
     */
    nodeName?: string[];
    /**
     * Labels of nodes that reach the addresses of the pool. Pods with one of them run there.
     */
    nodeAffinity?: {
      /**
       * Labels that all must be there.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Requirements that all must be met.
       *
       * @maxItems 32
       */
      matchExpressions?: {
        /**
         * The label.
         */
        key: string;
        /**
         * How the label is held against the values.
         */
        operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
        /**
         * For In and NotIn.
         *
         * @maxItems 256
         */
        values?: string[];
      }[];
    };
    /**
     * Namespaces of pods that the pool serves. It counts before namespaceAffinity.
     *
     * @maxItems 1000
     */
    namespaceName?: string[];
    /**
     * Labels of namespaces of pods that the pool serves.
     */
    namespaceAffinity?: {
      /**
       * Labels that all must be there.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Requirements that all must be met.
       *
       * @maxItems 32
       */
      matchExpressions?: {
        /**
         * The label.
         */
        key: string;
        /**
         * How the label is held against the values.
         */
        operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
        /**
         * For In and NotIn.
         *
         * @maxItems 256
         */
        values?: string[];
      }[];
    };
    /**
     * Labels of pods that the pool serves.
     */
    podAffinity?: {
      /**
       * Labels that all must be there.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Requirements that all must be met.
       *
       * @maxItems 32
       */
      matchExpressions?: {
        /**
         * The label.
         */
        key: string;
        /**
         * How the label is held against the values.
         */
        operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
        /**
         * For In and NotIn.
         *
         * @maxItems 256
         */
        values?: string[];
      }[];
    };
    /**
     * NetworkAttachmentDefinitions (namespace/name) that the pool serves.
     *
     * @maxItems 256
     */
    multusName?: string[];
  };
  /**
   * What the controller last saw.
   */
  status?: {};
}
