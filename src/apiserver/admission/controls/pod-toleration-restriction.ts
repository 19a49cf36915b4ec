/**
 * PodTolerationRestriction: adds the tolerations in a namespace annotation to the namespace's pods, and rejects
 * tolerations that another annotation does not allow. Without the annotations, the lists in the configuration apply. An
 * empty annotation means an empty list. Pods with resource requests or limits also get a toleration for memory
 * pressure.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import { qosClassOf } from '../../../api/kinds/core/types/qos-class.ts'
import { type Toleration, toleration } from '../../../api/kinds/core/types/scheduling.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { readConfiguration, readFields } from '../../../api/schema/read-configuration.ts'
import { field, s } from '../../../api/schema/schema.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { covers, mergeTolerations } from '../merge-tolerations.ts'
import { decideByNamespace } from '../namespace-decision.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly lookup: Lookup
}

const fields = {
  default: field(1, s.list(toleration), { doc: 'Tolerations added to all pods.' }),
  whitelist: field(2, s.list(toleration), {
    doc: 'Tolerations that are allowed in pods. An empty list allows all tolerations.',
  }),
}

interface Lists {
  readonly default?: Toleration[]
  readonly whitelist?: Toleration[]
}

export function podTolerationRestriction(parts: Parts): Control<Pod> {
  return withLists(parts, {})
}

export function configuredPodTolerationRestriction(parts: Parts, configuration: Json): Control<Pod> {
  const form = {
    vendor: parts.vendor,
    group: 'podtolerationrestriction.admission',
    versions: ['v1alpha1'],
    kind: 'Configuration',
    fields,
  }
  return withLists(parts, readConfiguration(configuration, form))
}

function withLists({ vendor, lookup }: Parts, usual: Lists): Control<Pod> {
  const key = (name: string) => vendorKey(vendor, name, 'scheduler.alpha')
  const listOf = (request: AdmissionRequest<Pod>, namespace: ApiObject, name: string) =>
    readAnnotation(request, namespace, key(name))
  const pressure: Toleration = {
    key: vendorKey(vendor, 'memory-pressure', 'node'),
    operator: 'Exists',
    effect: 'NoSchedule',
  }
  const added = (request: AdmissionRequest<Pod>, namespace: ApiObject): Toleration[] => {
    const isNew = request.operation === 'CREATE'
    const tolerations = isNew ? (listOf(request, namespace, 'defaultTolerations') ?? usual.default ?? []) : []
    return qosClassOf(specOf(request)) === 'BestEffort' ? tolerations : mergeTolerations(tolerations, [pressure])
  }
  return {
    name: 'PodTolerationRestriction',
    handles: { operations: ['CREATE', 'UPDATE'], types: [pods], subresources: [''] },
    mutate: (request) =>
      decideByNamespace(lookup, request, (namespace) => tolerating(request, added(request, namespace))),
    validate: (request) =>
      decideByNamespace(lookup, request, (namespace) => {
        const own = listOf(request, namespace, 'tolerationsWhitelist')
        refuseBeyond(request, own ?? usual.whitelist ?? [], own === undefined ? 'cluster' : 'namespace')
      }),
  }
}

function specOf({ object }: AdmissionRequest<Pod>): PodSpec {
  return object.spec ?? {}
}

function tolerating(request: AdmissionRequest<Pod>, added: readonly Toleration[]): ApiObject | undefined {
  if (added.length === 0) return undefined
  const spec = specOf(request)
  const { tolerations = [] } = spec
  const merged = mergeTolerations(tolerations, added)
  return sameJson(merged, tolerations) ? undefined : { ...request.object, spec: { ...spec, tolerations: merged } }
}

/** Maximum number of toleration pairs to compare. Bounds the CPU time that hostile pods and namespaces can consume. */
const maxCompared = 50_000

function refuseBeyond(request: AdmissionRequest<Pod>, whitelist: readonly Toleration[], whose: string): void {
  if (whitelist.length === 0) return
  const { tolerations = [] } = specOf(request)
  if (tolerations.length * whitelist.length > maxCompared)
    throw refusal(
      request,
      `${tolerations.length} tolerations cannot be compared with the ${whose} whitelist: too many combinations`,
    )
  const other = tolerations.find((one) => !whitelist.some((allowed) => covers(allowed, one)))
  if (other !== undefined)
    throw refusal(
      request,
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist: ${JSON.stringify(other)} is not in it`,
    )
}

const listed = { list: field(1, s.list(toleration)) }

/** Returns the tolerations in an annotation, or undefined if the annotation is absent. */
function readAnnotation(
  request: AdmissionRequest<Pod>,
  { metadata }: ApiObject,
  key: string,
): Toleration[] | undefined {
  const text = metadata.annotations?.[key]
  if (text === undefined) return undefined
  if (text === '') return []
  try {
    return readFields({ list: JSON.parse(text) as Json }, { vendor: request.vendor, fields: listed }).list ?? []
  } catch (error) {
    const why = messageOf(error)
    throw refusal(
      request,
      `annotation ${key} of namespace "${request.namespace}" is not a valid list of tolerations: ${why}`,
    )
  }
}
