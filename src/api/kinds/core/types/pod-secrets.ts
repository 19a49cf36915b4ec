/** Secrets that a pod refers to: as image pull secrets, in its environment and in its volumes. */
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { Volume } from './volume.ts'

/** Returns the names of all Secrets that a pod refers to. */
export function secretsOf({
  imagePullSecrets = [],
  initContainers = [],
  containers = [],
  ephemeralContainers = [],
  volumes = [],
}: PodSpec): string[] {
  return [
    ...imagePullSecrets.map(({ name = '' }) => name),
    ...[...initContainers, ...containers, ...ephemeralContainers].flatMap((one) => ofEnvironment(one as Container)),
    ...volumes.flatMap(ofVolume),
  ]
}

function ofEnvironment({ env = [], envFrom = [] }: Container): string[] {
  return [
    ...env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
    ...envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
  ]
}

/** Fields of volume sources that refer to a Secret. */
interface Source {
  readonly secretName?: string
  readonly secretRef?: { readonly name?: string }
  readonly nodePublishSecretRef?: { readonly name?: string }
  readonly sources?: readonly { readonly secret?: { readonly name?: string } }[]
}

function ofVolume({ name: _, ...sources }: Volume): string[] {
  return Object.values(sources as { readonly [source: string]: Source }).flatMap(
    ({ secretName, secretRef, nodePublishSecretRef, sources: projected = [] }) => [
      ...[secretName, secretRef?.name, nodePublishSecretRef?.name].filter((name) => name !== undefined),
      ...projected.flatMap(({ secret }) => secret?.name ?? []),
    ],
  )
}

/** Whether a volume or environment variable refers to a Secret without a name. */
export function usesNamelessSecret({
  initContainers = [],
  containers = [],
  ephemeralContainers = [],
  volumes = [],
}: PodSpec): boolean {
  const variables = [...initContainers, ...containers, ...ephemeralContainers].flatMap(({ env = [] }) => env)
  return (
    volumes.some(({ secret }) => secret !== undefined && !secret.secretName) ||
    variables.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined && !valueFrom.secretKeyRef.name)
  )
}
