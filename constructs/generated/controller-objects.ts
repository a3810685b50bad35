// Generated from deploy/ by `npm run generate`; do not edit.
import type { ApiObjectProps } from "cdk8s";

/** What an installation is made of, in order. */
export const controllerObjects: readonly ApiObjectProps[] = [
  {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
      "name": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool",
        "pod-security.kubernetes.io/enforce": "restricted"
      }
    }
  },
  {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
      "name": "nodeippools.nmstate.io",
      "labels": {
        "clusterctl.cluster.x-k8s.io": "",
        "clusterctl.cluster.x-k8s.io/move": ""
      }
    },
    "spec": {
      "group": "nmstate.io",
      "scope": "Cluster",
      "names": {
        "kind": "NodeIPPool",
        "listKind": "NodeIPPoolList",
        "plural": "nodeippools",
        "singular": "nodeippool",
        "shortNames": [
          "nip"
        ],
        "categories": [
          "nmstate"
        ]
      },
      "versions": [
        {
          "name": "v1",
          "served": true,
          "storage": true,
          "subresources": {
            "status": {}
          },
          "additionalPrinterColumns": [
            {
              "name": "CIDR",
              "type": "string",
              "jsonPath": ".spec.range.cidr"
            },
            {
              "name": "Used",
              "type": "integer",
              "jsonPath": ".status.allocated"
            },
            {
              "name": "Releasing",
              "type": "integer",
              "jsonPath": ".status.releasing"
            },
            {
              "name": "Free",
              "type": "string",
              "jsonPath": ".status.free"
            },
            {
              "name": "Available",
              "type": "string",
              "jsonPath": ".status.conditions[?(@.type==\"Available\")].status"
            },
            {
              "name": "Reason",
              "type": "string",
              "jsonPath": ".status.conditions[?(@.type==\"Available\")].reason"
            },
            {
              "name": "Age",
              "type": "date",
              "jsonPath": ".metadata.creationTimestamp"
            }
          ],
          "schema": {
            "openAPIV3Schema": {
              "type": "object",
              "description": "A pool of IP addresses for the network interfaces of cluster nodes.",
              "required": [
                "spec"
              ],
              "properties": {
                "apiVersion": {
                  "type": "string"
                },
                "kind": {
                  "type": "string"
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
                  "x-kubernetes-validations": [
                    {
                      "rule": "has(self.network) == has(oldSelf.network)",
                      "message": "network cannot be added or removed; make a new pool"
                    },
                    {
                      "rule": "!has(self.blockLength) || !isCIDR(self.range.cidr) || (self.blockLength >= cidr(self.range.cidr).prefixLength() && self.blockLength <= (cidr(self.range.cidr).ip().family() == 4 ? 32 : 128))",
                      "message": "blockLength must be from the prefix length of cidr to 32 (IPv6 128)",
                      "fieldPath": ".blockLength"
                    },
                    {
                      "rule": "!has(self.clusterRange) || !has(self.authority) || self.authority == 'Plan'",
                      "message": "clusterRange divides a pool of authority Plan"
                    }
                  ],
                  "properties": {
                    "range": {
                      "type": "object",
                      "description": "The addresses of the pool.",
                      "required": [
                        "cidr"
                      ],
                      "x-kubernetes-validations": [
                        {
                          "rule": "has(self.start) == has(oldSelf.start)",
                          "message": "start is offset 0 and cannot be added or removed",
                          "fieldPath": ".start"
                        },
                        {
                          "rule": "has(oldSelf.end) || !has(self.end)",
                          "message": "end cannot be added; without it the pool ends where cidr does",
                          "fieldPath": ".end"
                        },
                        {
                          "rule": "!isCIDR(self.cidr) || !has(self.start) || !isIP(self.start) || cidr(self.cidr).containsIP(self.start)",
                          "message": "start must lie in cidr",
                          "fieldPath": ".start"
                        },
                        {
                          "rule": "!isCIDR(self.cidr) || !has(self.end) || !isIP(self.end) || cidr(self.cidr).containsIP(self.end)",
                          "message": "end must lie in cidr",
                          "fieldPath": ".end"
                        },
                        {
                          "rule": "!isCIDR(self.cidr) || !has(self.exclude) || self.exclude.all(x, isIP(x) ? cidr(self.cidr).containsIP(x) : (!isCIDR(x) || cidr(self.cidr).containsCIDR(x)))",
                          "message": "every exclude must lie in cidr",
                          "fieldPath": ".exclude"
                        }
                      ],
                      "properties": {
                        "cidr": {
                          "type": "string",
                          "maxLength": 43,
                          "description": "The subnet, for example 10.10.10.0/24. Its length is the prefix length of every address.",
                          "x-kubernetes-validations": [
                            {
                              "rule": "isCIDR(self)",
                              "message": "cidr must be an address, a slash and a prefix length"
                            },
                            {
                              "rule": "self == oldSelf",
                              "message": "cidr cannot change; make a new pool"
                            }
                          ]
                        },
                        "start": {
                          "type": "string",
                          "maxLength": 39,
                          "description": "First address, offset 0. Default is the first address of cidr that a host may have.",
                          "x-kubernetes-validations": [
                            {
                              "rule": "isIP(self) && (ip(self).family() == 4 || !self.contains('.'))",
                              "message": "start must be an IP address"
                            },
                            {
                              "rule": "self == oldSelf",
                              "message": "start is offset 0 and cannot change"
                            }
                          ]
                        },
                        "end": {
                          "type": "string",
                          "maxLength": 39,
                          "description": "Last address. It may grow. Default is the last address of cidr that a host may have.",
                          "x-kubernetes-validations": [
                            {
                              "rule": "isIP(self) && (ip(self).family() == 4 || !self.contains('.'))",
                              "message": "end must be an IP address"
                            },
                            {
                              "rule": "!isIP(self) || !isIP(oldSelf) || ip(self).family() == 6 || ip(oldSelf).family() == 6 || ip(self) == ip(oldSelf) || ['/0,/1', '/1,/2', '/2,/3', '/3,/4', '/4,/5', '/5,/6', '/6,/7', '/7,/8', '/8,/9', '/9,/10', '/10,/11', '/11,/12', '/12,/13', '/13,/14', '/14,/15', '/15,/16', '/16,/17', '/17,/18', '/18,/19', '/19,/20', '/20,/21', '/21,/22', '/22,/23', '/23,/24', '/24,/25', '/25,/26', '/26,/27', '/27,/28', '/28,/29', '/29,/30', '/30,/31', '/31,/32'] .exists(t, cidr(oldSelf + t.split(',')[0]).containsIP(self) && !cidr(oldSelf + t.split(',')[1]).containsIP(self) && cidr(oldSelf + t.split(',')[1]).containsIP(cidr(oldSelf + t.split(',')[0]).masked().ip()))",
                              "message": "end may only grow"
                            },
                            {
                              "rule": "!isIP(self) || !isIP(oldSelf) || ip(self).family() == 4 || ip(oldSelf).family() == 4 || ip(self) == ip(oldSelf) || ['/0,/1', '/1,/2', '/2,/3', '/3,/4', '/4,/5', '/5,/6', '/6,/7', '/7,/8', '/8,/9', '/9,/10', '/10,/11', '/11,/12', '/12,/13', '/13,/14', '/14,/15', '/15,/16', '/16,/17', '/17,/18', '/18,/19', '/19,/20', '/20,/21', '/21,/22', '/22,/23', '/23,/24', '/24,/25', '/25,/26', '/26,/27', '/27,/28', '/28,/29', '/29,/30', '/30,/31', '/31,/32', '/32,/33', '/33,/34', '/34,/35', '/35,/36', '/36,/37', '/37,/38', '/38,/39', '/39,/40', '/40,/41', '/41,/42', '/42,/43', '/43,/44', '/44,/45', '/45,/46', '/46,/47', '/47,/48', '/48,/49', '/49,/50', '/50,/51', '/51,/52', '/52,/53', '/53,/54', '/54,/55', '/55,/56', '/56,/57', '/57,/58', '/58,/59', '/59,/60', '/60,/61', '/61,/62', '/62,/63', '/63,/64', '/64,/65', '/65,/66', '/66,/67', '/67,/68', '/68,/69', '/69,/70', '/70,/71', '/71,/72', '/72,/73', '/73,/74', '/74,/75', '/75,/76', '/76,/77', '/77,/78', '/78,/79', '/79,/80', '/80,/81', '/81,/82', '/82,/83', '/83,/84', '/84,/85', '/85,/86', '/86,/87', '/87,/88', '/88,/89', '/89,/90', '/90,/91', '/91,/92', '/92,/93', '/93,/94', '/94,/95', '/95,/96', '/96,/97', '/97,/98', '/98,/99', '/99,/100', '/100,/101', '/101,/102', '/102,/103', '/103,/104', '/104,/105', '/105,/106', '/106,/107', '/107,/108', '/108,/109', '/109,/110', '/110,/111', '/111,/112', '/112,/113', '/113,/114', '/114,/115', '/115,/116', '/116,/117', '/117,/118', '/118,/119', '/119,/120', '/120,/121', '/121,/122', '/122,/123', '/123,/124', '/124,/125', '/125,/126', '/126,/127', '/127,/128'] .exists(t, cidr(oldSelf + t.split(',')[0]).containsIP(self) && !cidr(oldSelf + t.split(',')[1]).containsIP(self) && cidr(oldSelf + t.split(',')[1]).containsIP(cidr(oldSelf + t.split(',')[0]).masked().ip()))",
                              "message": "end may only grow"
                            }
                          ]
                        },
                        "exclude": {
                          "type": "array",
                          "maxItems": 512,
                          "x-kubernetes-list-type": "atomic",
                          "description": "Addresses and prefixes that are never allocated. They keep their offsets.",
                          "items": {
                            "type": "string",
                            "maxLength": 43,
                            "x-kubernetes-validations": [
                              {
                                "rule": "isIP(self) || isCIDR(self)",
                                "message": "exclude takes addresses and prefixes"
                              }
                            ]
                          }
                        }
                      }
                    },
                    "additionalRanges": {
                      "type": "array",
                      "maxItems": 64,
                      "x-kubernetes-list-type": "atomic",
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
                        }
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
                      "x-kubernetes-list-type": "atomic",
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
                      "description": "The layer 2 network or VRF in which addresses are unique. Pools of one network must not overlap. Default is \"default\".",
                      "x-kubernetes-validations": [
                        {
                          "rule": "self == oldSelf",
                          "message": "network cannot change; make a new pool"
                        }
                      ]
                    },
                    "reservations": {
                      "type": "array",
                      "maxItems": 4096,
                      "x-kubernetes-list-type": "atomic",
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
                        }
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
                      }
                    },
                    "reclaimPolicy": {
                      "type": "string",
                      "enum": [
                        "Delete",
                        "Retain"
                      ],
                      "description": "What becomes of the addresses of owners that vanished. Delete frees them once they are off the node; Retain keeps them for the owner's return. Default is Delete."
                    },
                    "addressReuseGracePeriodSeconds": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 604800,
                      "description": "For at least so long the controller keeps an address that nobody claims any more before another owner may get it. Default is 25."
                    },
                    "allowZeroAnd255": {
                      "type": "boolean",
                      "description": "IPv4 only. Also allocate addresses whose last octet is 0 or 255. They then have offsets."
                    },
                    "blockLength": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 128,
                      "description": "The prefix length of what an owner gets, for example 24. Default is one address. Blocks that overlap an exclude or a reservation are not allocated."
                    },
                    "allocationOrder": {
                      "type": "string",
                      "enum": [
                        "Lowest",
                        "Hashed",
                        "Next"
                      ],
                      "description": "Which free address a new owner gets. Lowest is the lowest one. With Hashed the name of the first new owner chooses it and those that come with it follow, so that two branches seldom choose the same. With Next it is the next free one after the one that was allocated last, so that one that was given back is not allocated again soon. Who has an address keeps it. Default is Lowest."
                    },
                    "disable": {
                      "type": "boolean",
                      "description": "Whether the pool gives nothing new, but addresses that are reserved for their owner or asked for by name. Who has an address keeps it."
                    },
                    "default": {
                      "type": "boolean",
                      "description": "Whether the pool serves pods that name no pool, where neither their namespace nor their network does."
                    },
                    "detect": {
                      "type": "array",
                      "maxItems": 2,
                      "x-kubernetes-list-type": "set",
                      "description": "What pods with addresses of the pool look for before they start, where deploy/detect is installed. Conflict means that another host answers for such an address, Gateway that the gateway does not answer.",
                      "items": {
                        "type": "string",
                        "enum": [
                          "Conflict",
                          "Gateway"
                        ]
                      }
                    },
                    "nodeName": {
                      "type": "array",
                      "maxItems": 5000,
                      "x-kubernetes-list-type": "atomic",
                      "description": "Nodes that reach the addresses of the pool. Pods with one of them run there. It counts before nodeAffinity.",
                      "items": {
                        "type": "string",
                        "maxLength": 253
                      }
                    },
                    "nodeAffinity": {
                      "type": "object",
                      "description": "Labels of nodes that reach the addresses of the pool. Pods with one of them run there.",
                      "properties": {
                        "matchLabels": {
                          "type": "object",
                          "maxProperties": 64,
                          "additionalProperties": {
                            "type": "string",
                            "maxLength": 63
                          },
                          "description": "Labels that all must be there."
                        },
                        "matchExpressions": {
                          "type": "array",
                          "maxItems": 32,
                          "x-kubernetes-list-type": "atomic",
                          "description": "Requirements that all must be met.",
                          "items": {
                            "type": "object",
                            "required": [
                              "key",
                              "operator"
                            ],
                            "properties": {
                              "key": {
                                "type": "string",
                                "maxLength": 317,
                                "description": "The label."
                              },
                              "operator": {
                                "type": "string",
                                "enum": [
                                  "In",
                                  "NotIn",
                                  "Exists",
                                  "DoesNotExist"
                                ],
                                "description": "How the label is held against the values."
                              },
                              "values": {
                                "type": "array",
                                "maxItems": 256,
                                "x-kubernetes-list-type": "atomic",
                                "description": "For In and NotIn.",
                                "items": {
                                  "type": "string",
                                  "maxLength": 63
                                }
                              }
                            }
                          }
                        }
                      }
                    },
                    "namespaceName": {
                      "type": "array",
                      "maxItems": 1000,
                      "x-kubernetes-list-type": "atomic",
                      "description": "Namespaces of pods that the pool serves. It counts before namespaceAffinity.",
                      "items": {
                        "type": "string",
                        "maxLength": 63
                      }
                    },
                    "namespaceAffinity": {
                      "type": "object",
                      "description": "Labels of namespaces of pods that the pool serves.",
                      "properties": {
                        "matchLabels": {
                          "type": "object",
                          "maxProperties": 64,
                          "additionalProperties": {
                            "type": "string",
                            "maxLength": 63
                          },
                          "description": "Labels that all must be there."
                        },
                        "matchExpressions": {
                          "type": "array",
                          "maxItems": 32,
                          "x-kubernetes-list-type": "atomic",
                          "description": "Requirements that all must be met.",
                          "items": {
                            "type": "object",
                            "required": [
                              "key",
                              "operator"
                            ],
                            "properties": {
                              "key": {
                                "type": "string",
                                "maxLength": 317,
                                "description": "The label."
                              },
                              "operator": {
                                "type": "string",
                                "enum": [
                                  "In",
                                  "NotIn",
                                  "Exists",
                                  "DoesNotExist"
                                ],
                                "description": "How the label is held against the values."
                              },
                              "values": {
                                "type": "array",
                                "maxItems": 256,
                                "x-kubernetes-list-type": "atomic",
                                "description": "For In and NotIn.",
                                "items": {
                                  "type": "string",
                                  "maxLength": 63
                                }
                              }
                            }
                          }
                        }
                      }
                    },
                    "podAffinity": {
                      "type": "object",
                      "description": "Labels of pods that the pool serves.",
                      "properties": {
                        "matchLabels": {
                          "type": "object",
                          "maxProperties": 64,
                          "additionalProperties": {
                            "type": "string",
                            "maxLength": 63
                          },
                          "description": "Labels that all must be there."
                        },
                        "matchExpressions": {
                          "type": "array",
                          "maxItems": 32,
                          "x-kubernetes-list-type": "atomic",
                          "description": "Requirements that all must be met.",
                          "items": {
                            "type": "object",
                            "required": [
                              "key",
                              "operator"
                            ],
                            "properties": {
                              "key": {
                                "type": "string",
                                "maxLength": 317,
                                "description": "The label."
                              },
                              "operator": {
                                "type": "string",
                                "enum": [
                                  "In",
                                  "NotIn",
                                  "Exists",
                                  "DoesNotExist"
                                ],
                                "description": "How the label is held against the values."
                              },
                              "values": {
                                "type": "array",
                                "maxItems": 256,
                                "x-kubernetes-list-type": "atomic",
                                "description": "For In and NotIn.",
                                "items": {
                                  "type": "string",
                                  "maxLength": 63
                                }
                              }
                            }
                          }
                        }
                      }
                    },
                    "multusName": {
                      "type": "array",
                      "maxItems": 256,
                      "x-kubernetes-list-type": "atomic",
                      "description": "NetworkAttachmentDefinitions (namespace/name) that the pool serves.",
                      "items": {
                        "type": "string",
                        "maxLength": 317
                      }
                    }
                  }
                },
                "status": {
                  "type": "object",
                  "description": "What the controller last saw.",
                  "default": {
                    "observedGeneration": -1
                  },
                  "properties": {
                    "observedGeneration": {
                      "type": "integer",
                      "format": "int64",
                      "description": "The generation of spec that the rest of status is about."
                    },
                    "allocated-offsets": {
                      "type": "array",
                      "maxItems": 1000,
                      "x-kubernetes-list-type": "atomic",
                      "description": "Allocated addresses as offsets from start. A view, at most the first 1000; addresses are what is stored.",
                      "items": {
                        "type": "integer",
                        "format": "int64"
                      }
                    },
                    "capacity": {
                      "type": "string",
                      "description": "How many addresses can be allocated."
                    },
                    "allocated": {
                      "type": "integer",
                      "format": "int64",
                      "description": "How many are allocated."
                    },
                    "releasing": {
                      "type": "integer",
                      "format": "int64",
                      "description": "How many are claimed no more, and not yet known to be off their owners. Nobody else gets them."
                    },
                    "free": {
                      "type": "string",
                      "description": "How many can be allocated now; capacity is allocated, releasing and free, and those that other hosts were found to have."
                    },
                    "conditions": {
                      "type": "array",
                      "maxItems": 16,
                      "x-kubernetes-list-type": "map",
                      "x-kubernetes-list-map-keys": [
                        "type"
                      ],
                      "description": "Available, and what stands against it.",
                      "items": {
                        "type": "object",
                        "required": [
                          "type",
                          "status",
                          "reason",
                          "message",
                          "lastTransitionTime"
                        ],
                        "properties": {
                          "type": {
                            "type": "string",
                            "maxLength": 316,
                            "description": "Available; for kstatus, Ready, Reconciling and Stalled."
                          },
                          "status": {
                            "type": "string",
                            "enum": [
                              "True",
                              "False",
                              "Unknown"
                            ],
                            "description": "Whether the condition holds."
                          },
                          "reason": {
                            "type": "string",
                            "maxLength": 1024,
                            "description": "ReconciledPool, ReconcilingPool, ExhaustedIPPool, UnsynchronizedIPPool, OverlappingIPPool, IPCollision, InvalidSpec or Terminating."
                          },
                          "message": {
                            "type": "string",
                            "maxLength": 32768,
                            "description": "For people."
                          },
                          "observedGeneration": {
                            "type": "integer",
                            "format": "int64",
                            "description": "The generation of spec that this condition is about."
                          },
                          "lastTransitionTime": {
                            "type": "string",
                            "format": "date-time",
                            "description": "When status last changed."
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      ]
    }
  },
  {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    }
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "nodes"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodeippools"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodeippools/status"
        ],
        "verbs": [
          "patch"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkconfigurationpolicies"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkconfigurationpolicies/status"
        ],
        "verbs": [
          "patch"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkconfigurationenactments"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkstates"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "events"
        ],
        "verbs": [
          "create",
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "configmaps"
        ],
        "verbs": [
          "list",
          "create",
          "update"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "Role",
      "name": "nodeippool-controller"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-protection",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Fail",
      "matchConstraints": {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {
          "matchLabels": {
            "app.kubernetes.io/managed-by": "nodeippool-controller"
          }
        },
        "resourceRules": [
          {
            "apiGroups": [
              "nmstate.io"
            ],
            "apiVersions": [
              "*"
            ],
            "operations": [
              "UPDATE"
            ],
            "resources": [
              "nodenetworkconfigurationpolicies"
            ],
            "scope": "*"
          }
        ]
      },
      "matchConditions": [
        {
          "name": "not-the-controller",
          "expression": "!request.userInfo.username.matches('^system:serviceaccount:[^:]+:nodeippool-controller$')"
        }
      ],
      "validations": [
        {
          "expression": "object.spec == oldObject.spec",
          "message": "the controller of nodeippool keeps this policy; change the policy that it was made of, or the NodeIPPool"
        },
        {
          "expression": "[object, oldObject].all(one, has(one.metadata.labels) && one.metadata.labels[?'app.kubernetes.io/managed-by'].orValue('') == 'nodeippool-controller')",
          "message": "the label app.kubernetes.io/managed-by says that the controller of nodeippool keeps a policy; it cannot be added or removed"
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-protection",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-protection",
      "validationActions": [
        "Deny"
      ]
    }
  },
  {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "replicas": 1,
      "selector": {
        "matchLabels": {
          "app.kubernetes.io/name": "nodeippool"
        }
      },
      "template": {
        "metadata": {
          "labels": {
            "app.kubernetes.io/name": "nodeippool"
          }
        },
        "spec": {
          "serviceAccountName": "nodeippool-controller",
          "enableServiceLinks": false,
          "securityContext": {
            "runAsNonRoot": true,
            "seccompProfile": {
              "type": "RuntimeDefault"
            }
          },
          "tolerations": [
            {
              "key": "node.kubernetes.io/not-ready",
              "operator": "Exists",
              "effect": "NoExecute",
              "tolerationSeconds": 30
            },
            {
              "key": "node.kubernetes.io/unreachable",
              "operator": "Exists",
              "effect": "NoExecute",
              "tolerationSeconds": 30
            }
          ],
          "containers": [
            {
              "name": "controller",
              "image": "nodeippool:0.1.0",
              "args": [
                "controller"
              ],
              "env": [
                {
                  "name": "NODE_OPTIONS",
                  "value": "--max-semi-space-size=2"
                }
              ],
              "ports": [
                {
                  "name": "metrics",
                  "containerPort": 8080
                }
              ],
              "livenessProbe": {
                "httpGet": {
                  "path": "/healthz",
                  "port": "metrics"
                },
                "periodSeconds": 10,
                "failureThreshold": 6
              },
              "readinessProbe": {
                "httpGet": {
                  "path": "/readyz",
                  "port": "metrics"
                },
                "periodSeconds": 5
              },
              "resources": {
                "requests": {
                  "cpu": "20m",
                  "memory": "96Mi"
                },
                "limits": {
                  "memory": "512Mi"
                }
              },
              "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": {
                  "drop": [
                    "ALL"
                  ]
                }
              }
            }
          ]
        }
      }
    }
  },
  {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "selector": {
        "app.kubernetes.io/name": "nodeippool"
      },
      "ports": [
        {
          "name": "metrics",
          "port": 8080,
          "targetPort": "metrics"
        }
      ]
    }
  },
  {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {
      "name": "nodeippool-controller",
      "namespace": "nodeippool",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "maxUnavailable": 1,
      "selector": {
        "matchLabels": {
          "app.kubernetes.io/name": "nodeippool"
        }
      }
    }
  }
];

/** What parks policies at admission. */
export const parkingObjects: readonly ApiObjectProps[] = [
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-parking",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Ignore",
      "reinvocationPolicy": "Never",
      "paramKind": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole"
      },
      "matchConstraints": {
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "resourceRules": [
          {
            "apiGroups": [
              "nmstate.io"
            ],
            "apiVersions": [
              "*"
            ],
            "operations": [
              "CREATE",
              "UPDATE"
            ],
            "resources": [
              "nodenetworkconfigurationpolicies"
            ],
            "scope": "*"
          }
        ]
      },
      "matchConditions": [
        {
          "name": "takes-addresses-from-pools",
          "expression": "has(object.spec.capture) && object.spec.capture.exists(name, object.spec.capture[name].matches('^\\\\s*ippool\\\\.[A-Za-z0-9.-]+\\\\.allocate\\\\s*$'))"
        },
        {
          "name": "not-parked",
          "expression": "!has(object.spec.nodeSelector) || !('nmstate.io/ippool-template' in object.spec.nodeSelector)"
        }
      ],
      "mutations": [
        {
          "patchType": "JSONPatch",
          "jsonPatch": {
            "expression": "has(object.spec.nodeSelector) ? [JSONPatch{op: 'add', path: '/spec/nodeSelector/' + jsonpatch.escapeKey('nmstate.io/ippool-template'), value: 'parked'}] : [JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {'nmstate.io/ippool-template': 'parked'}}]"
          }
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-parking",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-parking",
      "paramRef": {
        "name": "nodeippool-controller",
        "parameterNotFoundAction": "Allow"
      }
    }
  }
];

/** What has pods look for conflicts. */
export const detectingObjects: readonly ApiObjectProps[] = [
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-detect",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Fail",
      "reinvocationPolicy": "Never",
      "paramKind": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole"
      },
      "matchConstraints": {
        "objectSelector": {
          "matchLabels": {
            "nodeippool.nmstate.io/addresses": "gated"
          }
        },
        "resourceRules": [
          {
            "apiGroups": [
              ""
            ],
            "apiVersions": [
              "v1"
            ],
            "operations": [
              "CREATE"
            ],
            "resources": [
              "pods"
            ]
          }
        ]
      },
      "matchConditions": [
        {
          "name": "is-to-look",
          "expression": "object.metadata.?annotations[\"nodeippool.nmstate.io/detect\"].orValue(\"\").trim().lowerAscii() != \"none\""
        },
        {
          "name": "has-no-such-container",
          "expression": "!object.spec.?initContainers.orValue([]).exists(one, one.name == 'nodeippool-detect')"
        }
      ],
      "variables": [
        {
          "name": "image",
          "expression": "'nodeippool-detect:0.1.0'"
        }
      ],
      "mutations": [
        {
          "patchType": "JSONPatch",
          "jsonPatch": {
            "expression": "(has(object.spec.initContainers) ? [] : [JSONPatch{op: \"add\", path: \"/spec/initContainers\", value: []}]) +\n[JSONPatch{op: \"add\", path: \"/spec/initContainers/0\", value: Object.spec.initContainers{\n  name: \"nodeippool-detect\",\n  image: variables.image,\n  args: [\"detect\", \"--checks=$(CHECKS)\", \"--gateway=$(GATEWAYS)\"],\n  env: [\n    Object.spec.initContainers.env{\n      name: \"CHECKS\",\n      valueFrom: Object.spec.initContainers.env.valueFrom{\n        fieldRef: Object.spec.initContainers.env.valueFrom.fieldRef{\n          fieldPath: \"metadata.annotations['nodeippool.nmstate.io/detect']\"\n        }\n      }\n    },\n    Object.spec.initContainers.env{\n      name: \"GATEWAYS\",\n      valueFrom: Object.spec.initContainers.env.valueFrom{\n        fieldRef: Object.spec.initContainers.env.valueFrom.fieldRef{\n          fieldPath: \"metadata.annotations['nodeippool.nmstate.io/gateways']\"\n        }\n      }\n    }\n  ],\n  resources: Object.spec.initContainers.resources{requests: {\"cpu\": \"10m\", \"memory\": \"64Mi\"}},\n  terminationMessagePolicy: \"FallbackToLogsOnError\",\n  securityContext: Object.spec.initContainers.securityContext{\n    runAsUser: 0,\n    runAsNonRoot: false,\n    allowPrivilegeEscalation: false,\n    readOnlyRootFilesystem: true,\n    capabilities: Object.spec.initContainers.securityContext.capabilities{drop: [\"ALL\"], add: [\"NET_RAW\"]}\n  }\n}}]\n"
          }
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-detect",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-detect",
      "paramRef": {
        "name": "nodeippool-controller",
        "parameterNotFoundAction": "Allow"
      }
    }
  }
];

/** What each of the things needs that the controller serves if it is asked to: the flag, and objects. */
export const components = {
  fleet: { flag: "--fleet", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-fleet",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkconfigurationenactments"
        ],
        "verbs": [
          "create"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodenetworkconfigurationenactments/status"
        ],
        "verbs": [
          "patch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "nodes"
        ],
        "verbs": [
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-fleet",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-fleet"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-node-labels",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Fail",
      "matchConstraints": {
        "resourceRules": [
          {
            "apiGroups": [
              ""
            ],
            "apiVersions": [
              "v1"
            ],
            "operations": [
              "UPDATE"
            ],
            "resources": [
              "nodes",
              "nodes/*"
            ]
          }
        ]
      },
      "matchConditions": [
        {
          "name": "is-the-controller",
          "expression": "request.userInfo.username.matches('^system:serviceaccount:[^:]+:nodeippool-controller$')"
        }
      ],
      "variables": [
        {
          "name": "labels",
          "expression": "object.metadata.?labels.orValue({})"
        },
        {
          "name": "oldLabels",
          "expression": "oldObject.metadata.?labels.orValue({})"
        }
      ],
      "validations": [
        {
          "expression": "request.?subResource.orValue('') == '' && object.spec == oldObject.spec && object.metadata.?annotations.orValue({}) == oldObject.metadata.?annotations.orValue({}) && object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) && object.metadata.?ownerReferences.orValue([]) == oldObject.metadata.?ownerReferences.orValue([])",
          "message": "the controller of nodeippool changes nothing of a Node but its own labels"
        },
        {
          "expression": "variables.labels.all(key, key.matches('^((gate|cleanup)[.])?nodeippool[.]nmstate[.]io/') || (key in variables.oldLabels && variables.oldLabels[key] == variables.labels[key])) && variables.oldLabels.all(key, key.matches('^((gate|cleanup)[.])?nodeippool[.]nmstate[.]io/') || key in variables.labels)",
          "message": "the controller of nodeippool changes no label of a Node but its own"
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-node-labels",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-node-labels",
      "validationActions": [
        "Deny"
      ]
    }
  }
] as ApiObjectProps[] },
  clusterApi: { flag: "--cluster-api", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-cluster-api",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "ipam.cluster.x-k8s.io"
        ],
        "resources": [
          "ipaddressclaims"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "apiGroups": [
          "ipam.cluster.x-k8s.io"
        ],
        "resources": [
          "ipaddressclaims/status"
        ],
        "verbs": [
          "patch"
        ]
      },
      {
        "apiGroups": [
          "ipam.cluster.x-k8s.io"
        ],
        "resources": [
          "ipaddresses"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          "cluster.x-k8s.io"
        ],
        "resources": [
          "clusters"
        ],
        "verbs": [
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "ipam.cluster.x-k8s.io"
        ],
        "resources": [
          "ipaddressclaims/finalizers"
        ],
        "verbs": [
          "update"
        ]
      },
      {
        "apiGroups": [
          "nmstate.io"
        ],
        "resources": [
          "nodeippools/finalizers"
        ],
        "verbs": [
          "update"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-cluster-api",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-cluster-api"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  }
] as ApiObjectProps[] },
  metal3: { flag: "--metal3", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {
      "name": "nodeippool-controller-metal3",
      "namespace": "metal3",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "configmaps"
        ],
        "resourceNames": [
          "nodeippool-infra"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "secrets"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          "metal3.io"
        ],
        "resources": [
          "baremetalhosts"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {
      "name": "nodeippool-controller-metal3",
      "namespace": "metal3",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "Role",
      "name": "nodeippool-controller-metal3"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  }
] as ApiObjectProps[] },
  nodeSlices: { flag: "--node-slices", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-node-slices",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "network-attachment-definitions"
        ],
        "verbs": [
          "list",
          "watch",
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-node-slices",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-node-slices"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {
      "name": "nodeippool-controller-node-slices",
      "namespace": "kube-system",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "whereabouts.cni.cncf.io"
        ],
        "resources": [
          "nodeslicepools"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          "whereabouts.cni.cncf.io"
        ],
        "resources": [
          "ippools"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {
      "name": "nodeippool-controller-node-slices",
      "namespace": "kube-system",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "Role",
      "name": "nodeippool-controller-node-slices"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  }
] as ApiObjectProps[] },
  ipamClaims: { flag: "--ipam-claims", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-ipam-claims",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "network-attachment-definitions"
        ],
        "verbs": [
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "ipamclaims"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch"
        ]
      },
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "ipamclaims/status"
        ],
        "verbs": [
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-ipam-claims",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-ipam-claims"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  }
] as ApiObjectProps[] },
  vmClaims: { flag: "--vm-claims", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-vm-claims",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "network-attachment-definitions"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "kubevirt.io"
        ],
        "resources": [
          "virtualmachines",
          "virtualmachineinstances"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "pods"
        ],
        "verbs": [
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "ipamclaims"
        ],
        "verbs": [
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          "kubevirt.io"
        ],
        "resources": [
          "virtualmachines/finalizers",
          "virtualmachineinstances/finalizers"
        ],
        "verbs": [
          "update"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-vm-claims",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-vm-claims"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  }
] as ApiObjectProps[] },
  vmAddresses: { flag: "--vm-addresses", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-vm-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "network-attachment-definitions"
        ],
        "verbs": [
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "kubevirt.io"
        ],
        "resources": [
          "virtualmachines",
          "virtualmachineinstances"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "ipamclaims"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "pods"
        ],
        "verbs": [
          "list",
          "watch",
          "patch"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-vm-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-vm-addresses"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-vm-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Fail",
      "reinvocationPolicy": "Never",
      "paramKind": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole"
      },
      "matchConstraints": {
        "objectSelector": {
          "matchLabels": {
            "kubevirt.io": "virt-launcher"
          }
        },
        "resourceRules": [
          {
            "apiGroups": [
              ""
            ],
            "apiVersions": [
              "v1"
            ],
            "operations": [
              "CREATE"
            ],
            "resources": [
              "pods"
            ]
          }
        ]
      },
      "matchConditions": [
        {
          "name": "has-secondary-networks",
          "expression": "has(object.metadata.annotations) && \"k8s.v1.cni.cncf.io/networks\" in object.metadata.annotations"
        }
      ],
      "mutations": [
        {
          "patchType": "ApplyConfiguration",
          "applyConfiguration": {
            "expression": "Object{\n  spec: Object.spec{\n    schedulingGates: [Object.spec.schedulingGates{name: \"nodeippool.nmstate.io/addresses\"}]\n  }\n}\n"
          }
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-vm-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-vm-addresses",
      "paramRef": {
        "name": "nodeippool-controller",
        "parameterNotFoundAction": "Allow"
      }
    }
  }
] as ApiObjectProps[] },
  workloadAddresses: { flag: "--workload-addresses", objects: [
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {
      "name": "nodeippool-controller-workload-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "rules": [
      {
        "apiGroups": [
          "k8s.cni.cncf.io"
        ],
        "resources": [
          "network-attachment-definitions"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "namespaces"
        ],
        "verbs": [
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          "apps"
        ],
        "resources": [
          "statefulsets",
          "deployments"
        ],
        "verbs": [
          "get",
          "list",
          "watch"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "configmaps"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "create",
          "patch",
          "delete"
        ]
      },
      {
        "apiGroups": [
          ""
        ],
        "resources": [
          "pods"
        ],
        "verbs": [
          "get",
          "list",
          "watch",
          "patch",
          "delete"
        ]
      }
    ]
  },
  {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {
      "name": "nodeippool-controller-workload-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "roleRef": {
      "apiGroup": "rbac.authorization.k8s.io",
      "kind": "ClusterRole",
      "name": "nodeippool-controller-workload-addresses"
    },
    "subjects": [
      {
        "kind": "ServiceAccount",
        "name": "nodeippool-controller",
        "namespace": "nodeippool"
      }
    ]
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {
      "name": "nodeippool-workload-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "failurePolicy": "Fail",
      "reinvocationPolicy": "Never",
      "paramKind": {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole"
      },
      "matchConstraints": {
        "objectSelector": {
          "matchLabels": {
            "nodeippool.nmstate.io/addresses": "gated"
          }
        },
        "resourceRules": [
          {
            "apiGroups": [
              ""
            ],
            "apiVersions": [
              "v1"
            ],
            "operations": [
              "CREATE"
            ],
            "resources": [
              "pods"
            ]
          }
        ]
      },
      "mutations": [
        {
          "patchType": "ApplyConfiguration",
          "applyConfiguration": {
            "expression": "Object{\n  spec: Object.spec{\n    schedulingGates: [Object.spec.schedulingGates{name: \"nodeippool.nmstate.io/addresses\"}]\n  }\n}\n"
          }
        }
      ]
    }
  },
  {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {
      "name": "nodeippool-workload-addresses",
      "labels": {
        "app.kubernetes.io/name": "nodeippool"
      }
    },
    "spec": {
      "policyName": "nodeippool-workload-addresses",
      "paramRef": {
        "name": "nodeippool-controller",
        "parameterNotFoundAction": "Allow"
      }
    }
  }
] as ApiObjectProps[] },
  freeTerminating: { flag: "--free-terminating", objects: [] as ApiObjectProps[] },
  freeTerminatingAfter: { flag: "--free-terminating-after", objects: [] as ApiObjectProps[] },
  lookEvery: { flag: "--look-every", objects: [] as ApiObjectProps[] },
};
