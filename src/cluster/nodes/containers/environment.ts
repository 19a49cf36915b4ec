/**
 * Builds the environment of a container: its variables, the values that they take from other objects, and references
 * between variables.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { Client } from '../../../client/requests/client.ts'
import { fieldValue, type NodeAmounts, resourceValue } from '../volumes/downward.ts'
import { readSource, type SourceName } from '../volumes/source-objects.ts'
import { type CommandMemory, CommandMemoryError, Environment, maxEnvironmentLength } from './command-memory.ts'
import { expandReferences } from './expand-references.ts'

export interface EnvironmentParts {
  readonly pod: Pod
  readonly container: Container
  /** Client that authenticates as the node's agent. */
  readonly client: Client
  readonly amounts: NodeAmounts
  readonly memory: CommandMemory
}

/**
 * Builds the environment. Omits unreadable values, because a container that requires one of them would not have
 * started. The caller must close the environment. Throws CommandMemoryError if the environment is too large.
 */
export async function environmentOf(parts: EnvironmentParts): Promise<Environment> {
  const sources = await parts.memory.reads.run(() => readSources(parts))
  const environment = new Environment(parts.memory)
  try {
    fill(environment, parts, sources)
    return environment
  } catch (error) {
    environment.close()
    throw error
  }
}

export function hostnameOf({ metadata, spec }: Pod): string {
  if (spec?.hostNetwork) return spec.nodeName ?? ''
  return spec?.hostname || (metadata.name ?? '').slice(0, 63)
}

function fill(environment: Environment, parts: EnvironmentParts, sources: SourceValues): void {
  const { pod, container } = parts
  environment.set('PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
  environment.set('HOSTNAME', hostnameOf(pod))
  environment.set('HOME', '/root')
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? [])
    for (const [key, value] of sources.get(sourceKey(sourceOf(configMapRef, secretRef))) ?? [])
      environment.set(`${prefix}${key}`, value)
  for (const { name = '', value, valueFrom } of container.env ?? []) {
    const text =
      valueFrom === undefined
        ? expandReferences(value ?? '', (each) => environment.get(each))
        : valueFor(parts, valueFrom, sources)
    if (text !== undefined) environment.set(name, text)
  }
}

type ValueFrom = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>

function valueFor(
  { pod, container, amounts }: EnvironmentParts,
  from: ValueFrom,
  sources: SourceValues,
): string | undefined {
  if (from.fieldRef !== undefined) return fieldValue(pod, from.fieldRef)
  if (from.resourceFieldRef !== undefined)
    return resourceValue(pod, { containerName: container.name ?? '', ...from.resourceFieldRef }, amounts)
  const { configMapKeyRef, secretKeyRef } = from
  const key = (secretKeyRef ?? configMapKeyRef)?.key ?? ''
  return sources.get(sourceKey(sourceOf(configMapKeyRef, secretKeyRef)))?.get(key)
}

/** The values that environment variables reference, by ConfigMap or Secret (`sourceKey`) and then by key. */
type SourceValues = ReadonlyMap<string, ReadonlyMap<string, string>>

type Reference = { readonly name?: string } | undefined
type Source = Omit<SourceName, 'namespace'>

function sourceOf(configMap: Reference, secret: Reference): Source {
  return secret === undefined
    ? { plural: 'configmaps', name: configMap?.name ?? '' }
    : { plural: 'secrets', name: secret.name ?? '' }
}

function sourceKey({ plural, name }: Source): string {
  return `${plural}/${name}`
}

/** Returns the values that the variables reference. Reads each object once and keeps only these values. */
async function readSources({ pod, container, client }: EnvironmentParts): Promise<SourceValues> {
  const values = new Map<string, ReadonlyMap<string, string>>()
  let length = 0
  for (const { source, keys } of neededSources(container).values()) {
    const { data } = await readSource({ ...source, namespace: pod.metadata.namespace ?? '' }, client)
    const neededValues = new Map<string, string>()
    for (const [key, bytes] of data ?? []) {
      if (keys !== 'all' && !keys.has(key)) continue
      length += bytes.length
      if (length > maxEnvironmentLength)
        throw new CommandMemoryError(
          `argument list too long: the variables exceed ${maxEnvironmentLength} characters in total`,
        )
      neededValues.set(key, bytes.toString())
    }
    values.set(sourceKey(source), neededValues)
  }
  return values
}

interface NeededSource {
  readonly source: Source
  keys: Set<string> | 'all'
}

function neededSources({ envFrom = [], env = [] }: Container): Map<string, NeededSource> {
  const needed = new Map<string, NeededSource>()
  const need = (source: Source): NeededSource => {
    const neededSource = needed.get(sourceKey(source)) ?? { source, keys: new Set<string>() }
    needed.set(sourceKey(source), neededSource)
    return neededSource
  }
  for (const { configMapRef, secretRef } of envFrom) need(sourceOf(configMapRef, secretRef)).keys = 'all'
  for (const { valueFrom: { configMapKeyRef, secretKeyRef } = {} } of env) {
    const reference = secretKeyRef ?? configMapKeyRef
    if (reference === undefined) continue
    const { keys } = need(sourceOf(configMapKeyRef, secretKeyRef))
    if (keys !== 'all') keys.add(reference.key ?? '')
  }
  return needed
}
