/**
 * Assigns a pod to a node (`pods/binding`, and the older equivalent `bindings`). A pod can be assigned only once. Also
 * copies the Binding's annotations to the pod and, if a feature gate is enabled, its labels, and sets the PodScheduled
 * condition.
 */
import { type Binding, binding as kind } from '../../api/kinds/core/binding.ts'
import { type Pod, pod } from '../../api/kinds/core/pod.ts'
import { badRequest, conflict } from '../../api/model/api-error.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import { isEnabled, type RuleContext } from '../../api/schema/context.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { updateObject } from '../registry/verbs/update.ts'
import { namesVersion } from '../registry/writes/metadata.ts'
import { ownWrite } from '../registry/writes/server-write.ts'
import { successStatus } from './success-status.ts'

export interface PodBindingParts {
  readonly stored: (type: StoredType) => Resource
}

const common = { verbs: ['create'], admits: 'CREATE', doc: 'Assigns a Pod to a node.' } as const

export function podBinding(parts: PodBindingParts): Endpoint<Binding> {
  return {
    ...common,
    kind: pod,
    subresource: 'binding',
    type: kind,
    answer: (request) => {
      if (request.object.metadata.name !== request.name)
        throw badRequest('name in URL does not match name in Binding object')
      return bind(parts, request)
    },
  }
}

export function binding(parts: PodBindingParts): Endpoint<Binding> {
  return { ...common, kind, subresource: '', type: undefined, answer: (request) => bind(parts, request) }
}

async function bind({ stored }: PodBindingParts, request: EndpointRequest<Binding>): Promise<ApiObject> {
  const { object: sent, namespace, dryRun, abandoned } = request
  const { name = '', namespace: meant = namespace } = sent.metadata
  if (name === '') throw badRequest('Name parameter required.')
  if (meant !== namespace)
    throw badRequest(
      `the namespace of the Binding (${meant}) does not match the namespace on the request (${namespace})`,
    )
  const resource = stored(pod)
  const options = { namespace, subresource: 'binding', optionsKind: 'UpdateOptions', signal: abandoned() } as const
  const context = { ...ownWrite(resource, options), dryRun }
  // The managedFields remain unchanged, because no field manager owns the fields that a Binding sets.
  const isExactVersion = namesVersion(sent)
  await updateObject(context, name, (previous) => ({
    object: bound(previous, sent, resource),
    managed: true,
    isExactVersion,
  }))
  return successStatus(201)
}

function bound(previous: Pod, sent: Binding, resource: Resource): Pod {
  const { context } = resource
  const { spec = {}, status = {}, metadata } = previous
  const { uid, resourceVersion, annotations } = sent.metadata
  const labels = isEnabled('PodTopologyLabelsAdmission', context) ? sent.metadata.labels : undefined
  const why = obstacle(previous)
  if (why !== undefined) throw conflict({ group: '', plural: 'pods/binding' }, metadata.name!, why)
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      resource,
      metadata.name!,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    )
  return {
    ...previous,
    metadata: {
      ...metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(annotations === undefined ? {} : { annotations: { ...metadata.annotations, ...annotations } }),
      ...(labels === undefined ? {} : { labels: { ...metadata.labels, ...labels } }),
    },
    spec: { ...spec, nodeName: sent.target?.name ?? '' },
    status: withScheduled(withoutNomination(status, context), timestamp(resource.clock.now())),
  }
}

/** Returns the reason why the pod cannot be assigned to a node, or undefined if it can. */
function obstacle({ metadata, spec = {} }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return `pod ${metadata.name} is being deleted, cannot be assigned to a host`
  if ((spec.schedulingGates ?? []).length > 0) return `pod ${metadata.name} has non-empty .spec.schedulingGates`
  return spec.nodeName ? `pod ${metadata.name} is already assigned to node "${spec.nodeName}"` : undefined
}

type PodStatus = NonNullable<Pod['status']>
type Condition = NonNullable<PodStatus['conditions']>[number]

/** Clears the nominated node in a pod's status, because the pod is now assigned to a node. */
function withoutNomination(status: PodStatus, context: RuleContext): PodStatus {
  if (!isEnabled('ClearingNominatedNodeNameAfterBinding', context)) return status
  const { nominatedNodeName: _, ...others } = status
  return others
}

function withScheduled(status: PodStatus, now: string): PodStatus {
  const { conditions = [] } = status
  // In stored conditions, an unknown time is null.
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }
  const before = conditions.findIndex(({ type }) => type === scheduled.type)
  const condition = scheduled as unknown as Condition
  return { ...status, conditions: before < 0 ? [...conditions, condition] : conditions.with(before, condition) }
}
