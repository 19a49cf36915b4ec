/**
 * The vendor profile: the only place that spells a vendor's domain.
 *
 * Code names groups and keys by their short id (`storage`, `metadata.name`); a profile turns them into the names on
 * the wire (`storage.orch.io`, `orch.io/metadata.name`). A store belongs to one profile for good: names are data.
 */
import { keysOf } from '../json/json.ts'

/** Which vendor's names are served. */
export type ProfileName = 'orch' | 'kubernetes'

/** All names that contain the vendor's domain. */
export interface Vendor {
  readonly profile: ProfileName
  /** Ends the API groups that carry the vendor's domain: `storage.<groupDomain>`. */
  readonly groupDomain: string
  /** Prefixes labels, annotations, finalizers, secret types and signers: `<keyDomain>/metadata.name`. */
  readonly keyDomain: string
  /** The finalizer in `spec.finalizers` of a Namespace. */
  readonly namespaceFinalizer: string
  readonly protobufMediaType: string
  /** Begins values that are encrypted in the store. */
  readonly encryptionWord: string
  /** The name of the Service that this server is: of the namespace `default`. */
  readonly apiService: string
  /** The signers of certificates that are built in. */
  readonly signers: Signers
  /**
   * Who owns the fields that the server itself writes, those that say how flow control stands, and those of the control
   * loops; undefined: each loop under its own name.
   */
  readonly managers: {
    readonly server: string
    /** Of the conditions of flow-control objects. */
    readonly flowControl: string
    /** Of the flow-control objects that must exist. */
    readonly mandatoryObjects: string
    readonly loops: string | undefined
  }
  /** What an agent on a node is called in names: `nodeagent`, `kubelet`. */
  readonly nodeAgent: string
  /** The environment variable through which a client tells a credential plugin what it needs. */
  readonly execInfoVariable: string
  /** Begins the vendor's own words in OpenAPI (`<extensionPrefix>list-type`) and its own headers. */
  readonly extensionPrefix: string
  /** Begin the names of published definitions: those of kinds, and by their first word those of shared types. */
  readonly definitionPrefixes: { readonly kinds: string; readonly [firstWord: string]: string }
}

/** The names of the built-in signers of certificates. */
export interface Signers {
  /** Certificates of clients of this server. */
  readonly client: string
  /** Those of the agents on nodes. */
  readonly nodeClient: string
  /** What agents on nodes serve with. */
  readonly nodeServing: string
  /** Of requests from before signers had names. */
  readonly legacyUnknown: string
}

const profiles: Record<ProfileName, Vendor> = {
  orch: {
    profile: 'orch',
    groupDomain: 'orch.io',
    keyDomain: 'orch.io',
    namespaceFinalizer: 'orch',
    protobufMediaType: 'application/vnd.orch.protobuf',
    encryptionWord: 'orch',
    apiService: 'orch',
    signers: {
      client: 'orch.io/apiserver-client',
      nodeClient: 'orch.io/apiserver-client-nodeagent',
      nodeServing: 'orch.io/nodeagent-serving',
      legacyUnknown: 'orch.io/legacy-unknown',
    },
    managers: { server: 'orch', flowControl: 'orch', mandatoryObjects: 'orch', loops: undefined },
    nodeAgent: 'nodeagent',
    execInfoVariable: 'ORCH_EXEC_INFO',
    extensionPrefix: 'x-orch-',
    definitionPrefixes: {
      kinds: 'io.orch.api.',
      meta: 'io.orch.',
      api: 'io.orch.',
      runtime: 'io.orch.',
      util: 'io.orch.',
      version: 'io.orch.',
    },
  },
  kubernetes: {
    profile: 'kubernetes',
    groupDomain: 'k8s.io',
    keyDomain: 'kubernetes.io',
    namespaceFinalizer: 'kubernetes',
    protobufMediaType: 'application/vnd.kubernetes.protobuf',
    encryptionWord: 'k8s',
    apiService: 'kubernetes',
    signers: {
      client: 'kubernetes.io/kube-apiserver-client',
      nodeClient: 'kubernetes.io/kube-apiserver-client-kubelet',
      nodeServing: 'kubernetes.io/kubelet-serving',
      legacyUnknown: 'kubernetes.io/legacy-unknown',
    },
    managers: {
      server: 'kube-apiserver',
      flowControl: 'api-priority-and-fairness-config-consumer-v1',
      mandatoryObjects: 'api-priority-and-fairness-config-producer-v1',
      loops: 'kube-controller-manager',
    },
    nodeAgent: 'kubelet',
    execInfoVariable: 'KUBERNETES_EXEC_INFO',
    extensionPrefix: 'x-kubernetes-',
    definitionPrefixes: {
      kinds: 'io.k8s.api.',
      meta: 'io.k8s.apimachinery.pkg.apis.',
      api: 'io.k8s.apimachinery.pkg.',
      runtime: 'io.k8s.apimachinery.pkg.',
      util: 'io.k8s.apimachinery.pkg.',
      version: 'io.k8s.apimachinery.pkg.',
      apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.',
      apiregistration: 'io.k8s.kube-aggregator.pkg.apis.',
    },
  },
}

/** The names of all profiles. */
export const profileNames = keysOf(profiles)

/** The profile of this name. */
export function vendorOf(profile: ProfileName): Vendor {
  return profiles[profile]
}

// Groups from before groups had domains.
const bareGroups = new Set(['apps', 'autoscaling', 'batch', 'policy'])

/**
 * The name of an API group on the wire: `core` is empty, `storage` is `storage.orch.io`. An id that ends in a dot is a
 * whole name, as in DNS: `stable.example.com.` belongs to somebody else.
 */
export function groupName(vendor: Vendor, group: string): string {
  if (group === 'core') return ''
  if (group.endsWith('.')) return group.slice(0, -1)
  return bareGroups.has(group) ? group : `${group}.${vendor.groupDomain}`
}

/** The id of a group, from its name on the wire: the way back from `groupName`. */
export function groupId(vendor: Vendor, name: string): string {
  if (name === '') return 'core'
  if (bareGroups.has(name)) return name
  const domain = `.${vendor.groupDomain}`
  return name.endsWith(domain) ? name.slice(0, -domain.length) : `${name}.`
}

/**
 * What a group of another profile is called in this one, and that profile: a client that asks for it is meant for a
 * server with that profile. Undefined for all other groups.
 */
export function groupOfOtherProfile(
  vendor: Vendor,
  group: string,
): { readonly group: string; readonly profile: ProfileName } | undefined {
  const other = Object.values(profiles).find((each) => each !== vendor && group.endsWith(`.${each.groupDomain}`))
  if (other === undefined) return undefined
  const id = group.slice(0, -other.groupDomain.length)
  return { group: `${id}${vendor.groupDomain}`, profile: other.profile }
}

/** What to tell whoever asks a server of this profile for such a group. */
export function profileHint(
  { profile }: Vendor,
  other: { readonly group: string; readonly profile: ProfileName },
): string {
  return `here it is in the group ${other.group}, as this server has --profile=${profile}; for the names that were sent start one with --profile=${other.profile}`
}

/** `v1` for the core group, `storage.orch.io/v1` for others. */
export function apiVersionOf(vendor: Vendor, group: string, version: string): string {
  const name = groupName(vendor, group)
  return name === '' ? version : `${name}/${version}`
}

/** A label, annotation or type key: `metadata.name` is `orch.io/metadata.name`, in `node` `node.orch.io/...`. */
export function vendorKey(vendor: Vendor, key: string, subdomain = ''): string {
  return `${subdomain}${subdomain && '.'}${vendor.keyDomain}/${key}`
}

/** Whether a key is in one of the vendor's domains, or below them: nobody else may give it a meaning. */
export function isVendorKey(vendor: Vendor, key: string): boolean {
  const slash = key.indexOf('/')
  const domain = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`
  return domain.endsWith(`.${vendor.keyDomain}`) || domain.endsWith(`.${vendor.groupDomain}`)
}

/** Whom a token is meant for that says nothing else: this server. */
export function apiAudience({ apiService }: Vendor): string {
  return `https://${apiService}.default.svc`
}

/** What tokens that are kept in secrets name as their issuer. */
export function legacyTokenIssuer({ apiService }: Vendor): string {
  return `${apiService}/serviceaccount`
}

/**
 * The published name of a definition: `core.v1.ConfigMap` is `io.orch.api.core.v1.ConfigMap`. One that begins with a
 * dot is whole: `.com.example.stable.v1.Widget` belongs to somebody else.
 */
export function definitionName({ definitionPrefixes }: Vendor, name: string): string {
  if (name.startsWith('.')) return name.slice(1)
  const firstWord = name.slice(0, name.indexOf('.'))
  return `${definitionPrefixes[firstWord] ?? definitionPrefixes.kinds}${name}`
}
