/**
 * The vendor profile: the only place that spells a vendor's domain.
 *
 * Code names groups and keys by their short id (`storage`, `metadata.name`); a profile turns them into the names on
 * the wire (`storage.orch.io`, `orch.io/metadata.name`). A store belongs to one profile for good: names are data.
 */
export type ProfileName = 'orch' | 'kubernetes'

export interface Vendor {
  readonly profile: ProfileName
  /** Ends the API groups that carry the vendor's domain: `storage.<groupDomain>`. */
  readonly groupDomain: string
  /** Prefixes labels, annotations, finalizers, secret types and signers: `<keyDomain>/metadata.name`. */
  readonly keyDomain: string
  /** The finalizer in `spec.finalizers` of a Namespace. */
  readonly namespaceFinalizer: string
  readonly protobufMediaType: string
}

const profiles: Record<ProfileName, Vendor> = {
  orch: {
    profile: 'orch',
    groupDomain: 'orch.io',
    keyDomain: 'orch.io',
    namespaceFinalizer: 'orch',
    protobufMediaType: 'application/vnd.orch.protobuf',
  },
  kubernetes: {
    profile: 'kubernetes',
    groupDomain: 'k8s.io',
    keyDomain: 'kubernetes.io',
    namespaceFinalizer: 'kubernetes',
    protobufMediaType: 'application/vnd.kubernetes.protobuf',
  },
}

export const profileNames = Object.keys(profiles) as ProfileName[]

export function vendorOf(profile: ProfileName): Vendor {
  return profiles[profile]
}

// Groups from before groups had domains.
const bareGroups = new Set(['apps', 'autoscaling', 'batch', 'policy'])

/** The name of an API group on the wire: `core` is empty, `storage` is `storage.orch.io`. */
export function groupName(vendor: Vendor, group: string): string {
  if (group === 'core') return ''
  return bareGroups.has(group) ? group : `${group}.${vendor.groupDomain}`
}

/** `v1` for the core group, `storage.orch.io/v1` for others. */
export function apiVersionOf(vendor: Vendor, group: string, version: string): string {
  const name = groupName(vendor, group)
  return name === '' ? version : `${name}/${version}`
}

/** A label, annotation or type key: `metadata.name` is `orch.io/metadata.name`. */
export function vendorKey(vendor: Vendor, key: string): string {
  return `${vendor.keyDomain}/${key}`
}
