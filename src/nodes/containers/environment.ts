/** The environment of a container: its variables, where their values come from, and references between them. */
import type { Client } from '../../client/client.ts'
import type { Pod } from '../../kinds/core/pod.ts'
import type { Container } from '../../kinds/core/types/container.ts'
import { fieldValue, type NodeAmounts, resourceValue } from '../volumes/downward.ts'
import { readSource, type SourceData } from '../volumes/source-objects.ts'

export interface EnvironmentParts {
  readonly pod: Pod
  readonly container: Container
  /** As the agent of the node. */
  readonly client: Client
  readonly amounts: NodeAmounts
}

/** Values that cannot be read are left out: a container that needs them would not have started. */
export async function environmentOf(parts: EnvironmentParts): Promise<Map<string, string>> {
  const { pod, container } = parts
  const found = new Map([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOSTNAME', hostnameOf(pod)],
    ['HOME', '/root'],
  ])
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const source = secretRef === undefined ? 'configmaps' : 'secrets'
    const data = await dataOf(parts, source, (secretRef ?? configMapRef)?.name ?? '')
    for (const [key, value] of data ?? []) found.set(`${prefix}${key}`, value.toString())
  }
  for (const { name = '', value, valueFrom } of container.env ?? []) {
    const text = valueFrom === undefined ? expanded(value ?? '', found) : await valueFor(parts, valueFrom)
    if (text !== undefined) found.set(name, text)
  }
  return found
}

/** The name that a pod has for itself. */
export function hostnameOf({ metadata, spec }: Pod): string {
  if (spec?.hostNetwork) return spec.nodeName ?? ''
  return spec?.hostname || (metadata.name ?? '').slice(0, 63)
}

type ValueFrom = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>

async function valueFor(parts: EnvironmentParts, from: ValueFrom): Promise<string | undefined> {
  const { pod, container, amounts } = parts
  if (from.fieldRef !== undefined) return fieldValue(pod, from.fieldRef)
  if (from.resourceFieldRef !== undefined)
    return resourceValue(pod, { containerName: container.name ?? '', ...from.resourceFieldRef }, amounts)
  const { configMapKeyRef, secretKeyRef } = from
  const reference = secretKeyRef ?? configMapKeyRef
  const data = await dataOf(parts, secretKeyRef === undefined ? 'configmaps' : 'secrets', reference?.name ?? '')
  return data?.get(reference?.key ?? '')?.toString()
}

async function dataOf(
  { pod, client }: EnvironmentParts,
  plural: 'configmaps' | 'secrets',
  name: string,
): Promise<SourceData> {
  const { data } = await readSource({ plural, namespace: pod.metadata.namespace ?? '', name }, client)
  return data
}

/** `$(NAME)` is the value of a variable that stands before; `$$(NAME)` is `$(NAME)`, and so is an unknown one. */
function expanded(text: string, known: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$(\$?)\(([^)]*)\)/g, (whole: string, doubled: string, name: string) =>
    doubled === '$' ? whole.slice(1) : (known.get(name) ?? whole),
  )
}
