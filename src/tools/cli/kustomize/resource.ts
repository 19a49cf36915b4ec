/**
 * An object of a kustomization during the build. Remembers the object's earlier names, because patches can refer to
 * them.
 */

import { isObject, type Json, type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'

export interface Identity {
  readonly name: string
  readonly namespace: string
}

export class Resource {
  object: JsonObject
  /** Names that the object had in nested kustomizations, oldest first. */
  readonly former: Identity[] = []
  /** Whether the name ends with a hash of the object's content. */
  hashed = false
  /** File or generator from which the object originates, for error messages. */
  readonly origin: string

  constructor(object: JsonObject, origin: string) {
    this.object = object
    this.origin = origin
  }

  get kind(): string {
    return stringOrEmpty(own(this.object, 'kind'))
  }

  get group(): string {
    const [group = '', version] = stringOrEmpty(own(this.object, 'apiVersion')).split('/')
    return version === undefined ? '' : group
  }

  get version(): string {
    return stringOrEmpty(own(this.object, 'apiVersion')).split('/').at(-1)!
  }

  get metadata(): JsonObject {
    const metadata = own(this.object, 'metadata')
    if (isObject(metadata)) return metadata
    const fresh = {}
    setKey(this.object, 'metadata', fresh)
    return fresh
  }

  get identity(): Identity {
    return {
      name: stringOrEmpty(own(this.metadata, 'name')),
      namespace: stringOrEmpty(own(this.metadata, 'namespace')),
    }
  }

  /** Returns the current identity and all earlier identities. */
  get identities(): Identity[] {
    return [...this.former, this.identity]
  }

  rename(name: string): void {
    this.former.push(this.identity)
    setKey(this.metadata, 'name', name)
  }

  move(namespace: string): void {
    this.former.push(this.identity)
    setKey(this.metadata, 'namespace', namespace)
  }

  /** Returns a display name, such as `Deployment web`, for messages. */
  toString(): string {
    return `${this.kind} ${this.identity.name}`
  }
}

function stringOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Throws UsageError if two objects have the same identity. */
export function checkDistinct(resources: readonly Resource[]): void {
  const resourcesByIdentity = new Map<string, Resource>()
  for (const resource of resources) {
    const { name, namespace } = resource.identity
    const key = JSON.stringify([resource.group, resource.kind, namespace, name])
    const other = resourcesByIdentity.get(key)
    if (other !== undefined)
      throw new UsageError(`${resource.origin}: ${resource} is already defined in ${other.origin}`)
    resourcesByIdentity.set(key, resource)
  }
}

const clusterScoped = new Set([
  ...['APIService', 'CertificateSigningRequest', 'ClusterRole', 'ClusterRoleBinding', 'ComponentStatus', 'CSIDriver'],
  ...['CSINode', 'CustomResourceDefinition', 'FlowSchema', 'IngressClass', 'MutatingWebhookConfiguration', 'Namespace'],
  ...['Node', 'PersistentVolume', 'PodSecurityPolicy', 'PriorityClass', 'PriorityLevelConfiguration', 'RuntimeClass'],
  ...['SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'StorageClass', 'StorageVersion', 'SubjectAccessReview'],
  ...['TokenReview', 'ValidatingWebhookConfiguration', 'VolumeAttachment'],
])

/** Whether the kind is namespaced. Without a server, unknown kinds are assumed to be namespaced. */
export function isNamespaced({ kind }: { readonly kind: string }): boolean {
  return !clusterScoped.has(kind)
}
