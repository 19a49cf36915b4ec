/**
 * PodNodeSelector: adds a node selector to the pods of a namespace, either from an annotation of the namespace or from
 * the cluster default in the configuration. An entry for a namespace in the configuration restricts the labels that the
 * namespace's pods and annotation may select. The cluster default itself is not restricted.
 *
 *   podNodeSelectorPluginConfig:
 *     clusterDefaultNodeSelector: env=test
 *     team-a: env=test,disk=ssd
 */

import type { Json } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { checkDnsLabel, checkLabelValue, checkQualifiedName } from '../../../api/model/names.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { readFields } from '../../../api/schema/read-configuration.ts'
import { field, s } from '../../../api/schema/schema.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { decideByNamespace } from '../namespace-decision.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly lookup: Lookup
}

type NodeLabels = { readonly [key: string]: string }

interface Selectors {
  /** The node selector for namespaces without the annotation. */
  readonly usual: NodeLabels
  /** Node labels that pods may select, by namespace. */
  readonly limits: ReadonlyMap<string, NodeLabels>
}

export function podNodeSelector(parts: Parts): Control<Pod> {
  return withSelectors(parts, { usual: {}, limits: new Map() })
}

const fields = {
  podNodeSelectorPluginConfig: field(1, s.map(s.string()), { doc: 'Node selectors by namespace.' }),
}
const defaultKey = 'clusterDefaultNodeSelector'

export function configuredPodNodeSelector(parts: Parts, configuration: Json): Control<Pod> {
  const { podNodeSelectorPluginConfig: given = {} } = readFields(configuration, { vendor: parts.vendor, fields })
  const read = Object.entries(given).map(([name, text]): [string, NodeLabels] => {
    const labels = parseSelector(text)
    const [fault] = name === defaultKey ? [] : checkDnsLabel(name)
    if (fault !== undefined || typeof labels === 'string')
      throw new Error(`podNodeSelectorPluginConfig[${name}]: ${fault ?? labels}`)
    return [name, labels]
  })
  const limits = new Map(read.filter(([name]) => name !== defaultKey))
  return withSelectors(parts, { usual: new Map(read).get(defaultKey) ?? {}, limits })
}

function withSelectors({ vendor, lookup }: Parts, { usual, limits }: Selectors): Control<Pod> {
  const key = vendorKey(vendor, 'node-selector', 'scheduler.alpha')
  const selectorOf = (request: AdmissionRequest<Pod>, namespace: ApiObject): NodeLabels => {
    const text = namespace.metadata.annotations?.[key]
    if (text === undefined) return usual
    const labels = parseSelector(text)
    if (typeof labels === 'string')
      throw refusal(
        request,
        `annotation ${key} of namespace "${request.namespace}" is not a valid node selector: ${labels}`,
      )
    return labels
  }
  return {
    name: 'PodNodeSelector',
    handles: { operations: ['CREATE'], types: [pods], subresources: [''] },
    mutate: (request) =>
      decideByNamespace(lookup, request, (namespace) => merged(request, selectorOf(request, namespace))),
    validate: (request) => {
      const limit = limits.get(request.namespace) ?? {}
      return decideByNamespace(lookup, request, (namespace) => {
        const namespaceSelector = selectorOf(request, namespace)
        refuseConflict(request, namespaceSelector)
        if (Object.keys(limit).length > 0) refuseBeyond(request, namespaceSelector === usual ? [limit, usual] : [limit])
      })
    },
  }
}

function selectorIn({ object }: AdmissionRequest<Pod>): NodeLabels {
  return object.spec?.nodeSelector ?? {}
}

function merged(request: AdmissionRequest<Pod>, namespaceSelector: NodeLabels): Pod | undefined {
  refuseConflict(request, namespaceSelector)
  const own = selectorIn(request)
  if (Object.keys(namespaceSelector).every((key) => Object.hasOwn(own, key))) return undefined
  return { ...request.object, spec: { ...request.object.spec, nodeSelector: { ...own, ...namespaceSelector } } }
}

function refuseConflict(request: AdmissionRequest<Pod>, namespaceSelector: NodeLabels): void {
  const own = selectorIn(request)
  const key = Object.keys(namespaceSelector).find(
    (one) => Object.hasOwn(own, one) && own[one] !== namespaceSelector[one],
  )
  if (key !== undefined)
    throw refusal(
      request,
      `pod node label selector conflicts with its namespace node label selector: ${key}=${own[key]}, but ${key}=${namespaceSelector[key]} is required`,
    )
}

/** Throws an error unless at least one of the label sets contains all labels of the pod's node selector. */
function refuseBeyond(request: AdmissionRequest<Pod>, allowed: readonly NodeLabels[]): void {
  const own = selectorIn(request)
  const isAllowed = (key: string) => allowed.some((labels) => Object.hasOwn(labels, key) && labels[key] === own[key])
  const key = Object.keys(own).find((one) => !isAllowed(one))
  if (key !== undefined)
    throw refusal(
      request,
      `pod node label selector labels conflict with its namespace whitelist: ${key}=${own[key]} is not in it`,
    )
}

/** Parses an equality selector such as `env=test,disk=ssd`. Returns an error message if the selector is invalid. */
function parseSelector(text: string): NodeLabels | string {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  const entries: [string, string][] = []
  for (const part of parts) {
    const [key = '', value, ...more] = part.split('=').map((word) => word.trim())
    if (value === undefined || more.length > 0) return `${JSON.stringify(part)} must be KEY=VALUE, such as a=b`
    const [fault] = [...checkQualifiedName(key), ...checkLabelValue(value)]
    if (fault !== undefined) return `${JSON.stringify(part)}: ${fault}`
    entries.push([key, value])
  }
  return Object.fromEntries(entries)
}
