/**
 * The kinds of KWOK's API that simulated nodes support, and their CustomResourceDefinitions. The schemas accept every
 * field, so that unsupported fields are not dropped silently. Instead, the loop `kwok-objects` reports them in the
 * status.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { ResourceType } from '../../../client/requests/resource-type.ts'

const kwokGroup = 'kwok.x-k8s.io'
const kwokVersion = 'v1alpha1'

/** `apiVersion` of all KWOK objects. */
export const kwokApiVersion = `${kwokGroup}/${kwokVersion}`

/** An object of a KWOK kind, such as a Stage or ClusterLogs. */
export interface KwokObject extends ApiObject {
  readonly spec?: JsonObject
  readonly status?: { readonly conditions?: readonly KwokCondition[] }
}

/** Reports whether simulated nodes support an object. */
export interface KwokCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
}

interface KindNames {
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly doc: string
}

const cluster = (kind: string, plural: string, doc: string): KindNames => ({ kind, plural, namespaced: false, doc })

const namespaced = (kind: string, plural: string, doc: string): KindNames => ({ kind, plural, namespaced: true, doc })

/** The KWOK kinds that simulated nodes support. */
export const kwokKinds = {
  stage: cluster('Stage', 'stages', 'A step in the lifecycle of the pods or nodes of a simulated cluster.'),
  resourceUsage: namespaced(
    'ResourceUsage',
    'resourceusages',
    'The CPU and memory usage of the containers of the simulated pod with the same name.',
  ),
  clusterResourceUsage: cluster(
    'ClusterResourceUsage',
    'clusterresourceusages',
    'The CPU and memory usage of the containers of simulated pods.',
  ),
  logs: namespaced('Logs', 'logs', 'The log files of the containers of the simulated pod with the same name.'),
  clusterLogs: cluster('ClusterLogs', 'clusterlogs', 'The log files of the containers of simulated pods.'),
  attach: namespaced('Attach', 'attaches', 'The output of the containers of the simulated pod with the same name.'),
  clusterAttach: cluster('ClusterAttach', 'clusterattaches', 'The output of the containers of simulated pods.'),
  exec: namespaced('Exec', 'execs', 'The environment of commands in the simulated pod with the same name.'),
  clusterExec: cluster('ClusterExec', 'clusterexecs', 'The environment of commands in simulated pods.'),
  portForward: namespaced('PortForward', 'portforwards', 'The ports of the simulated pod with the same name.'),
  clusterPortForward: cluster('ClusterPortForward', 'clusterportforwards', 'The ports of simulated pods.'),
  metric: cluster('Metric', 'metrics', 'The metrics that simulated nodes serve at a path.'),
} as const satisfies { readonly [name: string]: KindNames }

/** The names and the scope of a KWOK kind. */
export type KwokKind = (typeof kwokKinds)[keyof typeof kwokKinds]

/** Returns the resource type of a KWOK kind. */
export function kwokType({ kind, plural, namespaced }: KindNames): ResourceType<KwokObject> {
  return { group: kwokGroup, version: kwokVersion, plural, namespaced, kind }
}

/** Returns the API path for listing all objects of a kind. */
export function kwokPath({ plural }: KindNames): string {
  return `/apis/${kwokGroup}/${kwokVersion}/${plural}`
}

const text = { type: 'string' }

const schema = (doc: string, { extensionPrefix }: Vendor): JsonObject => ({
  type: 'object',
  description: doc,
  properties: {
    spec: {
      type: 'object',
      description: "Specification in KWOK's format. The condition Supported reports unsupported fields.",
      [`${extensionPrefix}preserve-unknown-fields`]: true,
    },
    status: {
      type: 'object',
      description: 'Observed status.',
      properties: {
        conditions: {
          type: 'array',
          description: 'Conditions of the object. The condition Supported is true if simulated nodes use the object.',
          items: {
            type: 'object',
            properties: { type: text, status: text, reason: text, message: text, lastTransitionTime: text },
          },
        },
      },
    },
  },
})

const supported = '.status.conditions[?(@.type=="Supported")]'

/** Returns the CustomResourceDefinition of a KWOK kind. */
export function definitionOf({ kind, plural, namespaced, doc }: KindNames, vendor: Vendor): JsonObject {
  const singular = kind.toLowerCase()
  return {
    metadata: { name: `${plural}.${kwokGroup}` },
    spec: {
      group: kwokGroup,
      names: { kind, plural, singular, listKind: `${kind}List` },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: kwokVersion,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema(doc, vendor) },
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Supported', type: 'string', jsonPath: `${supported}.status` },
            { name: 'Message', type: 'string', jsonPath: `${supported}.message`, priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  }
}
