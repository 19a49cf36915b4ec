/**
 * The vendor profile: the only code that contains a vendor's domain.
 *
 * Code uses short IDs of groups and keys (`storage`, `metadata.name`). A profile converts them to the names in the API
 * (`storage.orch.io`, `orch.io/metadata.name`). A store belongs to one profile permanently, because stored objects
 * contain the names.
 */
import { keysOf } from '../json/json.ts'

/** Name of a vendor profile. */
export type ProfileName = 'orch' | 'kubernetes'

/** All names in the API that depend on the vendor. */
export interface Vendor {
  readonly profile: ProfileName
  /** The suffix of API groups with the vendor's domain: `storage.<groupDomain>`. */
  readonly groupDomain: string
  /** The prefix of labels, annotations, finalizers, secret types and signers: `<keyDomain>/metadata.name`. */
  readonly keyDomain: string
  /** The finalizer in `spec.finalizers` of a Namespace. */
  readonly namespaceFinalizer: string
  readonly protobufMediaType: string
  /** Word in the prefix that marks encrypted values in the store. */
  readonly encryptionWord: string
  /** Name of the Service that routes to this API server. The Service is in the namespace `default`. */
  readonly apiService: string
  /** Names of the built-in certificate signers. */
  readonly signers: Signers
  /**
   * The field managers for writes by the server and its controllers. If `loops` is undefined, each controller uses its
   * own name.
   */
  readonly managers: {
    readonly server: string
    /** The field manager that writes the conditions of flow-control objects. */
    readonly flowControl: string
    /** Field manager for writes to the mandatory flow-control objects. */
    readonly mandatoryObjects: string
    readonly loops: string | undefined
  }
  /** The word for the node agent in names, such as `nodeagent` or `kubelet`. */
  readonly nodeAgent: string
  /** The environment variable that passes information from a client to a credential plugin. */
  readonly execInfoVariable: string
  /** The prefix of the vendor's OpenAPI extensions (`<extensionPrefix>list-type`) and headers. */
  readonly extensionPrefix: string
  /**
   * The name prefixes of published definitions. Kinds have the prefix `kinds`. The prefix of a shared type depends on
   * the first word of its name.
   */
  readonly definitionPrefixes: { readonly kinds: string; readonly [firstWord: string]: string }
}

/** Names of the built-in certificate signers, by purpose. */
export interface Signers {
  /** The signer of certificates for API clients. */
  readonly client: string
  /** The signer of client certificates for node agents. */
  readonly nodeClient: string
  /** The signer of serving certificates for node agents. */
  readonly nodeServing: string
  /** The signer name of requests that were created before signers had names. */
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

/** Names of all vendor profiles. */
export const profileNames = keysOf(profiles)

/** Returns the vendor profile with this name. */
export function vendorOf(profile: ProfileName): Vendor {
  return profiles[profile]
}

// API groups whose names do not have the domain suffix, because they predate the convention.
const bareGroups = new Set(['apps', 'autoscaling', 'batch', 'policy'])

/**
 * Returns the name of a group in the API: '' for `core`, or a name such as `storage.orch.io` for `storage`. An ID that
 * ends with a dot is a complete name, as in DNS: `stable.example.com.` belongs to a third party.
 */
export function groupName(vendor: Vendor, group: string): string {
  if (group === 'core') return ''
  if (group.endsWith('.')) return group.slice(0, -1)
  return bareGroups.has(group) ? group : `${group}.${vendor.groupDomain}`
}

/** Returns the ID of the group with the given name in the API. The function is the inverse of `groupName`. */
export function groupId(vendor: Vendor, name: string): string {
  if (name === '') return 'core'
  if (bareGroups.has(name)) return name
  const domain = `.${vendor.groupDomain}`
  return name.endsWith(domain) ? name.slice(0, -domain.length) : `${name}.`
}

/**
 * Translates the group name of another profile. Returns the corresponding name in this profile, and the other profile.
 * A client that requests such a group expects a server that uses the other profile. Returns undefined for all other
 * groups.
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

/** Returns a hint for clients that request another profile's group. */
export function profileHint(
  { profile }: Vendor,
  other: { readonly group: string; readonly profile: ProfileName },
): string {
  return `this server uses the group ${other.group} because of --profile=${profile}; to use the names that you sent, start a server with --profile=${other.profile}`
}

/** Returns the apiVersion: `v1` for the core group, and names such as `storage.orch.io/v1` for other groups. */
export function apiVersionOf(vendor: Vendor, group: string, version: string): string {
  const name = groupName(vendor, group)
  return name === '' ? version : `${name}/${version}`
}

/**
 * Returns the key of a label, annotation or type, such as `orch.io/metadata.name` for `metadata.name`, or
 * `node.orch.io/...` with the subdomain `node`.
 */
export function vendorKey(vendor: Vendor, key: string, subdomain = ''): string {
  return `${subdomain}${subdomain && '.'}${vendor.keyDomain}/${key}`
}

/** Whether a key is in one of the vendor's domains or their subdomains. Third parties may not define such keys. */
export function isVendorKey(vendor: Vendor, key: string): boolean {
  const slash = key.indexOf('/')
  const domain = `.${(slash < 0 ? key : key.slice(0, slash)).toLowerCase()}`
  return domain.endsWith(`.${vendor.keyDomain}`) || domain.endsWith(`.${vendor.groupDomain}`)
}

/**
 * Returns the profile whose domains include a group's name. The served profile takes precedence. Returns undefined for
 * groups of third parties.
 */
export function ownerOf(vendor: Vendor, group: string): Vendor | undefined {
  return [vendor, ...Object.values(profiles)].find((each) => isVendorKey(each, group))
}

/** Returns the audience that identifies this server, which is the default for tokens. */
export function apiAudience({ apiService }: Vendor): string {
  return `https://${apiService}.default.svc`
}

/** Returns the issuer of tokens that are stored in Secrets. */
export function legacyTokenIssuer({ apiService }: Vendor): string {
  return `${apiService}/serviceaccount`
}

/**
 * Returns the published name of a definition, such as `io.orch.api.core.v1.ConfigMap` for `core.v1.ConfigMap`. A name
 * that starts with a dot is complete: `.com.example.stable.v1.Widget` belongs to a third party.
 */
export function definitionName({ definitionPrefixes }: Vendor, name: string): string {
  if (name.startsWith('.')) return name.slice(1)
  const firstWord = name.slice(0, name.indexOf('.'))
  return `${definitionPrefixes[firstWord] ?? definitionPrefixes.kinds}${name}`
}
