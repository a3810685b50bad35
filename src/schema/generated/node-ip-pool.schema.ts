// Generated from deploy/crd by `npm run generate`; do not edit.
export const nodeIPPoolSchema = {
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "NodeIPPool",
  "$comment": "Generated from deploy/crd by `npm run generate`; do not edit.",
  "type": "object",
  "description": "A pool of IP addresses for the network interfaces of cluster nodes.",
  "required": [
    "apiVersion",
    "kind",
    "metadata",
    "spec"
  ],
  "properties": {
    "apiVersion": {
      "const": "nmstate.io/v1"
    },
    "kind": {
      "const": "NodeIPPool"
    },
    "metadata": {
      "type": "object"
    },
    "spec": {
      "type": "object",
      "description": "What the pool holds and who may allocate from it.",
      "required": [
        "range"
      ],
      "properties": {
        "range": {
          "type": "object",
          "description": "The addresses of the pool.",
          "required": [
            "cidr"
          ],
          "properties": {
            "cidr": {
              "type": "string",
              "maxLength": 43,
              "description": "The subnet, for example 10.10.10.0/24. Its length is the prefix length of every address."
            },
            "start": {
              "type": "string",
              "maxLength": 39,
              "description": "First address, offset 0. Default is the first address of cidr that a host may have."
            },
            "end": {
              "type": "string",
              "maxLength": 39,
              "description": "Last address. It may grow. Default is the last address of cidr that a host may have."
            },
            "exclude": {
              "type": "array",
              "maxItems": 512,
              "description": "Addresses and prefixes that are never allocated. They keep their offsets.",
              "items": {
                "type": "string",
                "maxLength": 43
              }
            }
          },
          "additionalProperties": false
        },
        "additionalRanges": {
          "type": "array",
          "maxItems": 64,
          "description": "More ranges of the same cidr.",
          "items": {
            "type": "object",
            "required": [
              "start",
              "end"
            ],
            "properties": {
              "start": {
                "type": "string",
                "maxLength": 39,
                "description": "First address."
              },
              "end": {
                "type": "string",
                "maxLength": 39,
                "description": "Last address."
              }
            },
            "additionalProperties": false
          }
        },
        "gateway": {
          "type": "string",
          "maxLength": 39,
          "description": "The router of the subnet. It is never allocated, and a policy may use it as capture.NAME.gateway."
        },
        "dnsServers": {
          "type": "array",
          "maxItems": 16,
          "description": "DNS servers of the subnet. They are never allocated, but to an owner for whom they are reserved.",
          "items": {
            "type": "string",
            "maxLength": 39
          }
        },
        "network": {
          "type": "string",
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
          "description": "The layer 2 network or VRF in which addresses are unique. Pools of one network must not overlap. Default is \"default\"."
        },
        "reservations": {
          "type": "array",
          "maxItems": 4096,
          "description": "Addresses kept for an owner, or, without an owner, kept away from everybody.",
          "items": {
            "type": "object",
            "required": [
              "address"
            ],
            "properties": {
              "address": {
                "type": "string",
                "maxLength": 39,
                "description": "The address that is kept."
              },
              "owner": {
                "type": "string",
                "maxLength": 400,
                "description": "Kind/name or Kind/namespace:name, for example Node/node05."
              },
              "claim": {
                "type": "string",
                "maxLength": 400,
                "description": "Name of the owner's claim, where the owner has several claims on this pool; for a policy it is POLICY/CAPTURE."
              },
              "description": {
                "type": "string",
                "maxLength": 256,
                "description": "For people."
              }
            },
            "additionalProperties": false
          }
        },
        "authority": {
          "type": "string",
          "enum": [
            "Plan",
            "Cluster"
          ],
          "description": "Who allocates. Plan means tools that plan (lockfile, stack); the controller only audits. Cluster means the controller alone. In a cluster the default is Cluster; tools that plan write Plan."
        },
        "clusterRange": {
          "type": "object",
          "required": [
            "start",
            "end"
          ],
          "description": "The part of a Plan pool that only the controller hands out, for nodes that join later.",
          "properties": {
            "start": {
              "type": "string",
              "maxLength": 39,
              "description": "First address."
            },
            "end": {
              "type": "string",
              "maxLength": 39,
              "description": "Last address."
            }
          },
          "additionalProperties": false
        },
        "reclaimPolicy": {
          "type": "string",
          "enum": [
            "Delete",
            "Retain"
          ],
          "description": "What becomes of the addresses of owners that vanished. Delete frees them once they are off the node; Retain keeps them for the owner's return. Default is Delete."
        },
        "allowZeroAnd255": {
          "type": "boolean",
          "description": "IPv4 only. Also allocate addresses whose last octet is 0 or 255. They then have offsets."
        }
      },
      "additionalProperties": false
    },
    "status": {
      "type": "object",
      "description": "What the controller last saw."
    }
  },
  "additionalProperties": false
} as const;
