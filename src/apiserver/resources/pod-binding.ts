/**
 * `pods/binding`, and `bindings` which says the same in an older way: gives a pod its node, once. Of the rest of the
 * pod only annotations of the Binding are taken over, and that it is scheduled is noted in its status.
 */
import { type Binding, binding as kind } from '../../api/kinds/core/binding.ts'
import { type Pod, pod } from '../../api/kinds/core/pod.ts'
import { pods } from '../../api/kinds/stored-types.ts'
import { badRequest, conflict } from '../../api/model/api-error.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
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
  const resource = stored(pods)
  const options = { namespace, subresource: 'binding', optionsKind: 'UpdateOptions', signal: abandoned() } as const
  const context = { ...ownWrite(resource, options), dryRun }
  // Nobody owns what a Binding sets: it is no part of what somebody wants of the pod.
  const named = namesVersion(sent)
  await updateObject(context, name, (previous) => ({ object: bound(previous, sent, resource), managed: true, named }))
  return successStatus(201)
}

function bound(previous: Pod, sent: Binding, resource: Resource): Pod {
  const { spec = {}, status = {}, metadata } = previous
  const { uid, resourceVersion, annotations } = sent.metadata
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
    },
    spec: { ...spec, nodeName: sent.target?.name ?? '' },
    status: withScheduled(status, timestamp(resource.clock.now())),
  }
}

/** Why the pod cannot be given a node. */
function obstacle({ metadata, spec = {} }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return `pod ${metadata.name} is being deleted, cannot be assigned to a host`
  return spec.nodeName ? `pod ${metadata.name} is already assigned to node "${spec.nodeName}"` : undefined
}

type PodStatus = NonNullable<Pod['status']>
type Condition = NonNullable<PodStatus['conditions']>[number]

function withScheduled(status: PodStatus, now: string): PodStatus {
  const { conditions = [] } = status
  // As it is stored: a time that nobody knows is null.
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }
  const before = conditions.findIndex(({ type }) => type === scheduled.type)
  const known = scheduled as unknown as Condition
  return { ...status, conditions: before < 0 ? [...conditions, known] : conditions.with(before, known) }
}
