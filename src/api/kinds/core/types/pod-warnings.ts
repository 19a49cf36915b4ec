/** Warnings about valid pods that are probably mistakes or that use deprecated features. */
import { at, child, type FieldPath } from '../../../model/field-error.ts'
import { parseQuantity } from '../../../model/quantity.ts'
import { ipWarnings } from '../../../model/strict-ip.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import type { KubeVersion } from '../../../versions/emulated-version.ts'
import { appArmorKey, appArmorWarning } from './app-armor-annotations.ts'
import { oldLabelWarnings } from './old-labels.ts'
import { overlapWarnings } from './path-warnings.ts'
import { seccompContainerKey, seccompPodKey } from './pod-annotations.ts'
import { allContainers } from './pod-containers.ts'
import { podSpecAddresses } from './pod-dns.ts'
import type { PodSpec } from './pod-spec.ts'
import { portWarnings } from './port-warnings.ts'
import { repeatedAt } from './repeated.ts'
import type { Volume } from './volume.ts'

/** The parts of a pod or pod template on which warnings are based. */
export interface PodParts {
  readonly spec?: PodSpec | undefined
  readonly annotations?: Annotations | undefined
}

type Annotations = { readonly [key: string]: string }

/** Returns the warnings about a pod. `place` is the path of the pod or template. */
export function podWarnings({ spec = {}, annotations }: PodParts, place: FieldPath, context: RuleContext): string[] {
  const path = child(place, 'spec')
  const { vendor } = context
  return [
    ...oldLabelWarnings(labelUses(spec, path), vendor),
    ...annotationWarnings(spec, annotations ?? {}, { path: child(place, 'metadata.annotations'), context }),
    ...(spec.volumes ?? []).flatMap((one, i) => volumeWarnings(one, at(child(path, 'volumes'), i), context)),
    ...(isSince('1.27', context) ? selectorWarnings(spec, path) : []),
    ...(isSince('1.28', context) ? portWarnings(allContainers(spec, path)) : []),
    ...(isSince('1.32', context) ? (spec.volumes ?? []).flatMap(overlapWarnings) : []),
    ...(isSince('1.33', context) ? podSpecAddresses(spec, path).flatMap(([place, ip]) => ipWarnings(place, ip)) : []),
    ...repeated(spec.hostAliases?.map(({ ip = '' }) => ip) ?? []).map(
      ([i, ip]) => `${path}.hostAliases[${i}].ip: duplicate ip "${ip}"`,
    ),
    ...pullSecretWarnings(spec, child(path, 'imagePullSecrets')),
    ...repeated(spec.volumes?.map(({ name = '' }) => name) ?? []).map(
      ([i, name]) => `${path}.volumes[${i}].name: duplicate name "${name}"`,
    ),
    ...allContainers(spec, path).flatMap(([one, where]) => [
      ...fractionWarnings(one.resources?.limits ?? {}, `${where}.resources.limits`),
      ...fractionWarnings(one.resources?.requests ?? {}, `${where}.resources.requests`),
      ...repeated(one.env?.map(({ name }) => name) ?? []).map(([i, name]) =>
        isSince('1.28', context)
          ? `${where}.env[${i}]: hides an earlier definition of "${name}"`
          : `${where}.env[${i}].name: duplicate name "${name}"`,
      ),
    ]),
    ...fractionWarnings(spec.overhead ?? {}, child(path, 'overhead')),
  ]
}

/** Annotations that fields have replaced, with the recommendation for each annotation. */
const oldAnnotations: readonly (readonly [prefix: string, name: string, why: string])[] = [
  ['scheduler.alpha', 'critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha', 'sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha', 'unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]

function annotationWarnings(
  spec: PodSpec,
  annotations: Annotations,
  { path, context }: { path: FieldPath; context: RuleContext },
): string[] {
  if (Object.keys(annotations).length === 0) return []
  const { vendor } = context
  const since = isSince('1.27', context) ? 'non-functional in v1.27+' : 'deprecated since v1.19'
  const seccomp = `${since}; use the "seccompProfile" field instead`
  const used = [
    ...oldAnnotations.map(([prefix, name, why]) => [vendorKey(vendor, name, prefix), why] as const),
    ...(spec.securityContext?.seccompProfile ? [] : [[seccompPodKey(vendor), seccomp] as const]),
    ...allContainers(spec, path)
      .filter(([one]) => !one.securityContext?.seccompProfile)
      .map(([one]) => [seccompContainerKey(vendor, one.name ?? ''), seccomp] as const),
  ]
  const seccompUses = used.filter(([key]) => Object.hasOwn(annotations, key))
  return [
    ...seccompUses.map(([key, why]) => `${at(path, key)}: ${why}`),
    ...(isSince('1.30', context) ? appArmorWarnings({ spec, annotations }, path, vendor) : []),
  ]
}

function appArmorWarnings({ spec = {}, annotations = {} }: PodParts, path: FieldPath, vendor: Vendor): string[] {
  return allContainers(spec, '')
    .filter(([one]) => one.securityContext?.appArmorProfile === undefined)
    .map(([{ name = '' }]) => name)
    .filter((name) => Object.hasOwn(annotations, appArmorKey(vendor, name)))
    .map((name) => appArmorWarning(name, path, vendor))
}

/** Returns warnings about terms without a selector, because such terms match no pod. */
function selectorWarnings({ affinity = {}, topologySpreadConstraints = [] }: PodSpec, path: FieldPath): string[] {
  const terms = (['podAffinity', 'podAntiAffinity'] as const).flatMap((name) => {
    const place = `${path}.affinity.${name}`
    const { requiredDuringSchedulingIgnoredDuringExecution: required = [] } = affinity[name] ?? {}
    const { preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } = affinity[name] ?? {}
    return [
      ...required.map((term, i) => [term, `${place}.requiredDuringSchedulingIgnoredDuringExecution[${i}]`] as const),
      ...preferred.map(
        ({ podAffinityTerm = {} }, i) =>
          [podAffinityTerm, `${place}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm`] as const,
      ),
    ]
  })
  const constraints = topologySpreadConstraints.map(
    (one, i) => [one, `${path}.topologySpreadConstraints[${i}]`] as const,
  )
  return [...terms, ...constraints]
    .filter(([{ labelSelector }]) => labelSelector === undefined)
    .map(([, where]) => `${where}.labelSelector: a null labelSelector results in matching no pod`)
}

type Term = { matchExpressions?: { key?: string }[] }

/** Returns the node labels that a pod refers to, each with its field path. */
function labelUses(spec: PodSpec, path: FieldPath): [string, FieldPath][] {
  const { nodeSelector = {}, affinity = {}, topologySpreadConstraints = [] } = spec
  const nodes = affinity.nodeAffinity ?? {}
  const place = `${path}.affinity.nodeAffinity`
  const required = nodes.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const preferred = nodes.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return [
    ...Object.keys(nodeSelector).map((key): [string, FieldPath] => [key, at(child(path, 'nodeSelector'), key)]),
    ...required.flatMap((term, i) =>
      termUses(term, `${place}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${i}]`),
    ),
    ...preferred.flatMap(({ preference = {} }, i) =>
      termUses(preference, `${place}.preferredDuringSchedulingIgnoredDuringExecution[${i}].preference`),
    ),
    ...topologySpreadConstraints.map(({ topologyKey = '' }, i): [string, FieldPath] => [
      topologyKey,
      `${path}.topologySpreadConstraints[${i}].topologyKey`,
    ]),
  ]
}

function termUses({ matchExpressions = [] }: Term, path: FieldPath): [string, FieldPath][] {
  return matchExpressions.map(({ key = '' }, i) => [key, `${path}.matchExpressions[${i}].key`])
}

const oldSources: readonly (readonly [source: keyof Volume, why: string, since?: KubeVersion])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+', '1.25'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+', '1.28'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+', '1.28'],
]

function volumeWarnings(volume: Volume, path: FieldPath, context: RuleContext): string[] {
  return oldSources
    .filter(([source, , since]) => volume[source] !== undefined && (since === undefined || isSince(since, context)))
    .map(([source, why]) => `${child(path, source)}: ${why}`)
}

function pullSecretWarnings({ imagePullSecrets = [] }: PodSpec, path: FieldPath): string[] {
  const names = imagePullSecrets.map(({ name = '' }) => name)
  return [
    ...names.flatMap((name, i) => (name ? [] : [`${at(path, i)}: invalid empty name ""`])),
    ...repeated(names).map(([i, name]) => `${at(path, i)}.name: duplicate name "${name}"`),
  ]
}

const inBytes = ['memory', 'ephemeral-storage']

function fractionWarnings(amounts: { readonly [name: string]: string }, path: FieldPath): string[] {
  if (!inBytes.some((name) => Object.hasOwn(amounts, name))) return []
  return Object.entries(amounts)
    .filter(([name, text]) => inBytes.includes(name) && (parseQuantity(text)?.nanos ?? 0n) % 1_000_000_000n !== 0n)
    .map(([name, text]) => `${at(path, name)}: fractional byte value "${text}" is invalid, must be an integer`)
}

/** Returns the names that occur more than once, with their indexes. */
function repeated(names: readonly (string | undefined)[]): [number, string][] {
  return names.length < 2 ? [] : Array.from(repeatedAt(names), (i) => [i, names[i]!])
}
