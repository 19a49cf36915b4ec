/** Warnings about valid pods that are probably mistakes or that use deprecated features. */
import { at, child, type FieldPath } from '../../../model/field-error.ts'
import { parseQuantity } from '../../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { oldLabelWarnings } from './old-labels.ts'
import { seccompContainerKey, seccompPodKey } from './pod-annotations.ts'
import { allContainers } from './pod-containers.ts'
import type { PodSpec } from './pod-spec.ts'
import { repeatedAt } from './repeated.ts'
import type { Volume } from './volume.ts'

/** A pod or a pod template. */
export interface PodParts {
  readonly spec?: PodSpec | undefined
  readonly annotations?: Annotations | undefined
}

type Annotations = { readonly [key: string]: string }

/** Returns the warnings. `place` is the path of the pod or template. */
export function podWarnings({ spec = {}, annotations }: PodParts, place: FieldPath, vendor: Vendor): string[] {
  const path = child(place, 'spec')
  return [
    ...oldLabelWarnings(labelUses(spec, path), vendor),
    ...annotationWarnings(spec, annotations ?? {}, { path: child(place, 'metadata.annotations'), vendor }),
    ...(spec.volumes ?? []).flatMap((one, i) => volumeWarnings(one, at(child(path, 'volumes'), i))),
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
      ...repeated(one.env?.map(({ name }) => name) ?? []).map(
        ([i, name]) => `${where}.env[${i}].name: duplicate name "${name}"`,
      ),
    ]),
    ...fractionWarnings(spec.overhead ?? {}, child(path, 'overhead')),
  ]
}

/** Annotations that fields have replaced, with the advice for each. */
const oldAnnotations: readonly (readonly [prefix: string, name: string, why: string])[] = [
  ['scheduler.alpha', 'critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha', 'sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha', 'unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]

function annotationWarnings(
  spec: PodSpec,
  annotations: Annotations,
  { path, vendor }: { path: FieldPath; vendor: Vendor },
): string[] {
  if (Object.keys(annotations).length === 0) return []
  const seccomp = 'deprecated since v1.19; use the "seccompProfile" field instead'
  const used = [
    ...oldAnnotations.map(([prefix, name, why]) => [vendorKey(vendor, name, prefix), why] as const),
    ...(spec.securityContext?.seccompProfile ? [] : [[seccompPodKey(vendor), seccomp] as const]),
    ...allContainers(spec, path)
      .filter(([one]) => !one.securityContext?.seccompProfile)
      .map(([one]) => [seccompContainerKey(vendor, one.name ?? ''), seccomp] as const),
  ]
  return used.filter(([key]) => Object.hasOwn(annotations, key)).map(([key, why]) => `${at(path, key)}: ${why}`)
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

const oldSources: readonly (readonly [keyof Volume, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
]

function volumeWarnings(volume: Volume, path: FieldPath): string[] {
  return oldSources
    .filter(([source]) => volume[source] !== undefined)
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

/** Returns the repeated names with their indexes. */
function repeated(names: readonly (string | undefined)[]): [number, string][] {
  return names.length < 2 ? [] : Array.from(repeatedAt(names), (i) => [i, names[i]!])
}
