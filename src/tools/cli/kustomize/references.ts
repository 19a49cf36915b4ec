/**
 * Updates references between objects when names change. Covers all reference fields of built-in kinds that kustomize
 * knows.
 */
import { type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { changeAt, objectsAt, podSpecPath } from './fields.ts'
import { type Identity, isNamespaced, type Resource } from './resource.ts'

const containers = ['containers', 'initContainers']

/** Reference fields in pod specs, by referenced kind. */
const inPods: { readonly [kind: string]: readonly string[] } = {
  ConfigMap: [
    'volumes/configMap/name',
    'volumes/projected/sources/configMap/name',
    ...containers.flatMap((list) => [
      `${list}/env/valueFrom/configMapKeyRef/name`,
      `${list}/envFrom/configMapRef/name`,
    ]),
  ],
  Secret: [
    'volumes/secret/secretName',
    'volumes/projected/sources/secret/name',
    'imagePullSecrets/name',
    ...containers.flatMap((list) => [`${list}/env/valueFrom/secretKeyRef/name`, `${list}/envFrom/secretRef/name`]),
  ],
  ServiceAccount: ['serviceAccountName'],
  PersistentVolumeClaim: ['volumes/persistentVolumeClaim/claimName'],
  PriorityClass: ['priorityClassName'],
}

/** Other reference fields: the referenced kind, the referring kind, and the paths to the fields. */
const elsewhere: readonly (readonly [to: string, from: string, paths: readonly string[]])[] = [
  ['ConfigMap', 'Node', ['spec/configSource/configMap/name']],
  ['Secret', 'Ingress', ['spec/tls/secretName']],
  ['Secret', 'ServiceAccount', ['imagePullSecrets/name', 'secrets/name']],
  [
    'Secret',
    'StorageClass',
    ['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) => `parameters/${name}`),
  ],
  ['Secret', 'PersistentVolume', ['spec/azureFile/secretName']],
  ['Service', 'StatefulSet', ['spec/serviceName']],
  [
    'Service',
    'Ingress',
    [
      ...['spec/rules/http/paths/backend/serviceName', 'spec/backend/serviceName'],
      ...['spec/rules/http/paths/backend/service/name', 'spec/defaultBackend/service/name'],
    ],
  ],
  ['Service', 'APIService', ['spec/service/name']],
  ['Service', 'ValidatingWebhookConfiguration', ['webhooks/clientConfig/service/name']],
  ['Service', 'MutatingWebhookConfiguration', ['webhooks/clientConfig/service/name']],
  ['PersistentVolume', 'PersistentVolumeClaim', ['spec/volumeName']],
  ['StorageClass', 'PersistentVolume', ['spec/storageClassName']],
  ['StorageClass', 'PersistentVolumeClaim', ['spec/storageClassName']],
  ['StorageClass', 'StatefulSet', ['spec/volumeClaimTemplates/spec/storageClassName']],
  ['IngressClass', 'Ingress', ['spec/ingressClassName']],
]

/** A renamed object with its previous name. */
export interface Renaming {
  readonly resource: Resource
  readonly before: Identity
}

/** Updates all references to renamed objects. */
export function fixReferences(resources: readonly Resource[], renamings: readonly Renaming[]): void {
  const changed = renamings.filter(({ resource, before }) => {
    const { name, namespace } = resource.identity
    return name !== before.name || namespace !== before.namespace
  })
  if (changed.length === 0) return
  const byKind = Map.groupBy(changed, ({ resource }) => resource.kind)
  for (const resource of resources) {
    const change = (kind: string) => (value: unknown) =>
      typeof value === 'string' ? newName(byKind.get(kind), value, resource) : undefined
    fixPods(resource, change)
    for (const [to, from, paths] of elsewhere)
      if (resource.kind === from) for (const path of paths) changeAt(resource.object, path, change(to))
    fixNamedKinds(resource, byKind)
  }
}

function fixPods({ kind, object }: Resource, change: (kind: string) => (value: unknown) => string | undefined): void {
  const spec = podSpecPath(kind)
  if (spec === undefined) return
  for (const [to, paths] of Object.entries(inPods))
    for (const path of paths) changeAt(object, `${spec}/${path}`, change(to))
}

/** Updates references that include a kind: the targets of autoscalers, and the roles and subjects of bindings. */
function fixNamedKinds(resource: Resource, byKind: ReadonlyMap<string, readonly Renaming[]>): void {
  const fix = (reference: JsonObject, namespace?: string) => {
    const kind = own(reference, 'kind')
    const name = own(reference, 'name')
    if (typeof kind !== 'string' || typeof name !== 'string') return
    const renamings = byKind.get(kind)
    const newIdentity =
      namespace === undefined
        ? renamed(renamings, name, resource.identity.namespace)
        : renamedIn(renamings, name, namespace)
    if (newIdentity === undefined) return
    setKey(reference, 'name', newIdentity.name)
    // Set the namespace only if the object has one. An object without a namespace can be applied to any namespace.
    if (Object.hasOwn(reference, 'namespace') && newIdentity.namespace !== '')
      setKey(reference, 'namespace', newIdentity.namespace)
  }
  if (resource.kind === 'HorizontalPodAutoscaler')
    objectsAt(resource.object, 'spec/scaleTargetRef', { create: false, use: (reference) => fix(reference) })
  if (!resource.kind.endsWith('RoleBinding')) return
  objectsAt(resource.object, 'roleRef', { create: false, use: (reference) => fix(reference) })
  objectsAt(resource.object, 'subjects', {
    create: false,
    use: (subject) => {
      const namespace = own(subject, 'namespace')
      if (own(subject, 'kind') === 'ServiceAccount') fix(subject, typeof namespace === 'string' ? namespace : undefined)
    },
  })
}

function newName(renamings: readonly Renaming[] | undefined, name: string, from: Resource): string | undefined {
  const namespaces = [from.identity.namespace, ...from.former.map(({ namespace }) => namespace)]
  for (const namespace of namespaces) {
    const newIdentity = renamed(renamings, name, namespace)
    if (newIdentity !== undefined) return newIdentity.name
  }
  return undefined
}

/**
 * Returns the new name of a referenced object. Prefers the object in the namespace of the reference. If there is none,
 * uses the only object that had this name.
 */
function renamed(renamings: readonly Renaming[] = [], name: string, namespace: string): Identity | undefined {
  const same = renamings.filter(({ before }) => before.name === name)
  const here = same.find(({ resource, before }) => !isNamespaced(resource) || before.namespace === namespace)
  return (here ?? (same.length === 1 ? same[0] : undefined))?.resource.identity
}

/** Finds the object that had this name and is or was in the namespace of the reference. */
function renamedIn(renamings: readonly Renaming[] = [], name: string, namespace: string): Identity | undefined {
  const isThere = (identity: Identity) => (identity.namespace || 'default') === namespace
  const matchingRenaming = renamings.find(
    ({ resource, before }) => before.name === name && (isThere(before) || isThere(resource.identity)),
  )
  return matchingRenaming?.resource.identity
}
