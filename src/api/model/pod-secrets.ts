/** Finds the Secrets that a pod uses: as image pull secrets, in its environment and in its volumes. */

/** The fields of a pod spec that can refer to Secrets. */
interface SecretUser {
  readonly imagePullSecrets?: readonly Named[]
  readonly initContainers?: readonly Container[]
  readonly containers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly volumes?: readonly Volume[]
}

interface Named {
  readonly name?: string
}

interface Container {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: Named } }[]
  readonly envFrom?: readonly { readonly secretRef?: Named }[]
}

/** A volume of a pod. Its source may refer to a Secret. */
interface Volume extends Named {
  readonly secret?: { readonly secretName?: string }
}

/** Returns the names of all Secrets to which a pod refers. */
export function secretsOf({
  imagePullSecrets = [],
  initContainers = [],
  containers = [],
  ephemeralContainers = [],
  volumes = [],
}: SecretUser): string[] {
  return [
    ...imagePullSecrets.map(({ name = '' }) => name),
    ...[...initContainers, ...containers, ...ephemeralContainers].flatMap((one) => ofEnvironment(one)),
    ...volumes.flatMap(ofVolume),
  ]
}

function ofEnvironment({ env = [], envFrom = [] }: Container): string[] {
  return [
    ...env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
    ...envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
  ]
}

/** The fields of volume sources that refer to Secrets. */
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
}: SecretUser): boolean {
  const variables = [...initContainers, ...containers, ...ephemeralContainers].flatMap(({ env = [] }) => env)
  return (
    volumes.some(({ secret }) => secret !== undefined && !secret.secretName) ||
    variables.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined && !valueFrom.secretKeyRef.name)
  )
}
